import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.implementation.bytecode.assign.Assigner;
import net.bytebuddy.matcher.ElementMatcher;
import net.bytebuddy.matcher.ElementMatchers;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorTimer;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ResolvedRegularExpression;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs Kafka's own unit tests and prints what they do to a GroupMetadataManager, a line of JSON for each event, into a file.
 *
 * Arguments: the file, and names of JUnit classes. Methods of the released classes are instrumented as they are loaded; the tests are not changed.
 * Only what a test itself calls is an event, not what the manager calls of itself.
 */
public class Recorder implements TestExecutionListener {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();
    private static final Map<Object, Map<String, Object>> SETTINGS = new IdentityHashMap<>();
    private static final Map<Object, Integer> MANAGERS = new IdentityHashMap<>();
    private static final Map<Object, Integer> WRITTEN = new IdentityHashMap<>();
    private static final Map<Object, Integer> TICKETS = new IdentityHashMap<>();
    private static final Map<String, Object> CHANGED = new TreeMap<>();

    private static PrintWriter out;
    private static int depth = 0;
    private static int events = 0;
    private static Time clock = Time.SYSTEM;
    private static Object manager = null;
    private static ObjectNode current = null;

    public static void main(String[] given) throws IOException {
        out = new PrintWriter(given[0], StandardCharsets.UTF_8);
        instrument();
        var request = LauncherDiscoveryRequestBuilder.request();
        for (String name : List.of(given).subList(1, given.length)) {
            request.selectors(DiscoverySelectors.selectClass(name));
        }
        LauncherFactory.create().execute(request.build(), new Recorder());
        out.close();
        System.exit(0);
    }

    private static void instrument() {
        String group = "org.apache.kafka.coordinator.group.";
        new AgentBuilder.Default()
            .disableClassFormatChanges()
            .with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
            .type(ElementMatchers.named(group + "GroupMetadataManager"))
            .transform((builder, type, loader, module, domain) -> builder
                .visit(Advice.to(Made.class).on(ElementMatchers.isConstructor()))
                .visit(Advice.to(Called.class).on(named(
                    "consumerGroupHeartbeat", "classicGroupJoin", "classicGroupSync", "classicGroupHeartbeat", "classicGroupLeave",
                    "streamsGroupHeartbeat", "shareGroupHeartbeat", "handleRegularExpressionsResult", "onMetadataUpdate", "onLoaded",
                    "onUnloaded", "maybeDeleteGroup", "createGroupTombstoneRecordsAndCancelTimers", "consumerGroupDescribe",
                    "describeGroups", "getOrMaybeCreateClassicGroup", "getOrMaybeCreatePersistedConsumerGroup",
                    "getOrMaybeCreateConsumerGroup", "getOrMaybeCreatePersistedStreamsGroup", "getOrMaybeCreatePersistedShareGroup"))))
            .type(ElementMatchers.named(group + "OffsetMetadataManager"))
            .transform((builder, type, loader, module, domain) -> builder
                .visit(Advice.to(Called.class).on(named(
                    "commitOffset", "commitTransactionalOffset", "deleteOffsets", "deleteAllOffsets", "fetchOffsets", "fetchAllOffsets",
                    "cleanupExpiredOffsets", "onTopicsDeleted", "replayEndTransactionMarker", "onMetadataUpdate")))
                .visit(Advice.to(MadeForOffsets.class).on(ElementMatchers.isConstructor())))
            .type(ElementMatchers.named(group + "GroupMetadataManagerTestContext")
                .or(ElementMatchers.named(group + "OffsetMetadataManagerTest$OffsetMetadataManagerTestContext")))
            .transform((builder, type, loader, module, domain) -> builder
                .visit(Advice.to(Called.class).on(named("replay", "updateGroupConfig", "commit", "rollback"))))
            .type(ElementMatchers.named("org.apache.kafka.coordinator.common.runtime.MockCoordinatorTimer"))
            .transform((builder, type, loader, module, domain) -> builder
                .visit(Advice.to(Scheduled.class).on(named("schedule").and(ElementMatchers.takesArguments(6)))))
            .type(ElementMatchers.named(group + "classic.ClassicGroup").or(ElementMatchers.named(group + "modern.consumer.ConsumerGroup"))
                .or(ElementMatchers.named(group + "modern.ModernGroup")))
            .transform((builder, type, loader, module, domain) -> builder
                .visit(Advice.to(Drawn.class).on(named("generateMemberId")))
                .visit(Advice.to(Changed.class).on(named(
                    "add", "remove", "transitionTo", "updateMember", "removeMember", "initNextGeneration", "setProtocolName",
                    "setNewMemberAdded", "setSubscribedTopics", "addPendingMember", "addPendingSyncMember", "setGroupEpoch", "setTargetAssignmentMetadata",
                    "updateTargetAssignment", "setMetadataRefreshDeadline", "setMetadataHash", "replaceStaticMember", "completeJoinFuture",
                    "completeSyncFuture", "requestMetadataRefresh", "updateResolvedRegularExpression"))))
            .type(ElementMatchers.named(group + "GroupCoordinatorConfig"))
            .transform((builder, type, loader, module, domain) -> builder
                .visit(Advice.to(Configured.class).on(ElementMatchers.isConstructor())))
            .type(ElementMatchers.hasSuperType(ElementMatchers.named(group + "api.assignor.ConsumerGroupPartitionAssignor"))
                .and(ElementMatchers.not(ElementMatchers.isInterface())))
            .transform((builder, type, loader, module, domain) -> builder
                .visit(Advice.to(Assigned.class).on(named("assign").and(ElementMatchers.takesArguments(2)))))
            .installOn(ByteBuddyAgent.install());
    }

    private static ElementMatcher.Junction<MethodDescription> named(String... names) {
        return ElementMatchers.<MethodDescription>namedOneOf(names).and(ElementMatchers.not(ElementMatchers.isAbstract()));
    }

    public static class Made {
        @Advice.OnMethodExit
        public static void exit(@Advice.This Object self) {
            made(self);
        }
    }

    public static class MadeForOffsets {
        @Advice.OnMethodExit
        public static void exit(@Advice.This Object self) {
            madeForOffsets(self);
        }
    }

    public static class Configured {
        @Advice.OnMethodExit
        public static void exit(@Advice.This Object self, @Advice.Argument(0) Object config) {
            configured(self, config);
        }
    }

    public static class Called {
        @Advice.OnMethodEnter
        public static Object enter(@Advice.This Object self, @Advice.Origin("#m") String name, @Advice.AllArguments Object[] given) {
            return entered(self, name, given);
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        public static void exit(
            @Advice.Enter Object event,
            @Advice.AllArguments Object[] given,
            @Advice.Return(typing = Assigner.Typing.DYNAMIC) Object result,
            @Advice.Thrown Throwable thrown
        ) {
            left(event, given, result, thrown);
        }
    }

    public static class Scheduled {
        @Advice.OnMethodEnter
        public static void enter(
            @Advice.Argument(0) String key,
            @Advice.Argument(value = 5, readOnly = false, typing = Assigner.Typing.DYNAMIC) Object operation
        ) {
            operation = scheduled(key, operation);
        }
    }

    public static class Drawn {
        @Advice.OnMethodExit
        public static void exit(@Advice.Return String id) {
            drawn(id);
        }
    }

    public static class Changed {
        @Advice.OnMethodEnter
        public static void enter(@Advice.This Object self) {
            changed(self);
        }
    }

    public static class Assigned {
        @Advice.OnMethodExit(onThrowable = Throwable.class)
        public static void exit(
            @Advice.This Object self,
            @Advice.Return(typing = Assigner.Typing.DYNAMIC) Object result,
            @Advice.Thrown Throwable thrown
        ) {
            assigned(self, result, thrown);
        }
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.isTest()) {
            depth = 0;
            current = null;
            manager = null;
            SETTINGS.clear();
            MANAGERS.clear();
            WRITTEN.clear();
            TICKETS.clear();
            CHANGED.clear();
            print(JSON.createObjectNode().put("what", "test").put("test", nameOf(test)));
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest()) {
            var event = JSON.createObjectNode().put("what", "end").put("test", nameOf(test)).put("status", result.getStatus().name());
            result.getThrowable().ifPresent(thrown -> event.put("thrown", String.valueOf(thrown.getMessage())));
            print(event);
        } else {
            result.getThrowable().ifPresent(Throwable::printStackTrace);
        }
    }

    private static String nameOf(TestIdentifier test) {
        return test.getUniqueId().replaceAll(".*\\[class:[^\\]]*\\.([^\\].]*)\\]", "$1").replaceAll("/\\[[a-z-]*:", " ").replace("]", "");
    }

    public static void configured(Object self, Object config) {
        if (config instanceof AbstractConfig known) {
            SETTINGS.put(self, known.originals());
        }
    }

    public static void made(Object self) {
        manager = self;
        MANAGERS.put(self, MANAGERS.size());
        clock = (Time) read(self, "time");
        Object config = read(self, "config");
        var event = event("manager");
        settings(event.putObject("settings"), config);
        try {
            var assignors = event.putArray("assignors");
            var listed = (List<?>) config.getClass().getMethod("consumerGroupAssignors").invoke(config);
            listed.forEach(each -> assignors.addObject()
                .put("name", ((ConsumerGroupPartitionAssignor) each).name()).put("by", each.getClass().getSimpleName()));
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
        image(event.putObject("image"), (CoordinatorMetadataImage) read(self, "metadataImage"));
        print(event);
    }

    public static void madeForOffsets(Object self) {
        clock = (Time) read(self, "time");
        var event = event("offsets");
        settings(event.putObject("settings"), read(self, "config"));
        image(event.putObject("image"), (CoordinatorMetadataImage) read(self, "metadataImage"));
        print(event);
    }

    private static void settings(ObjectNode into, Object config) {
        SETTINGS.getOrDefault(config, Map.of()).forEach((name, value) -> {
            if (value instanceof Number || value instanceof String) {
                into.put(name, value.toString());
            }
        });
    }

    public static Object entered(Object self, String name, Object[] given) {
        if (depth++ > 0) {
            return null;
        }
        if (!CHANGED.isEmpty()) {
            printChanged();
        }
        current = event(name);
        try {
            switch (name) {
                case "replay" -> replayed(current, given);
                case "onMetadataUpdate" -> imaged(current, (CoordinatorMetadataDelta) given[0], (CoordinatorMetadataImage) given[1]);
                case "updateGroupConfig" -> {
                    current.put("group", (String) given[0]);
                    var settings = current.putObject("settings");
                    ((Properties) given[1]).forEach((key, value) -> settings.put(key.toString(), value.toString()));
                }
                case "handleRegularExpressionsResult" -> resolved(current, given);
                default -> asked(current, given);
            }
        } catch (RuntimeException error) {
            current.put("unreadable", error.toString());
        }
        return current;
    }

    private static void asked(ObjectNode event, Object[] given) {
        int version = -1;
        for (Object each : given) {
            if (each instanceof AuthorizableRequestContext context) {
                version = context.requestVersion();
                event.put("version", version).put("client", context.clientId());
                event.put("host", context.clientAddress() == null ? "" : context.clientAddress().toString());
            } else if (each instanceof ApiMessage request) {
                event.set("request", json(request, version));
                if (request instanceof OffsetCommitRequestData commit) {
                    // What a version of the request does not have on the wire, and the broker or the test adds.
                    ((ObjectNode) event.get("request")).put("retentionTimeMs", commit.retentionTimeMs());
                    var topics = event.get("request").get("topics");
                    for (int place = 0; place < topics.size(); place++) {
                        var topic = commit.topics().get(place);
                        ((ObjectNode) topics.get(place)).put("name", topic.name()).put("topicId", topic.topicId().toString());
                    }
                }
            } else if (each instanceof String text) {
                event.put("group", text);
            } else if (each instanceof Boolean flag) {
                event.put("flag", flag);
            } else if (each instanceof Number number) {
                event.put("number", number.longValue());
            } else if (each instanceof Collection<?> several && !several.isEmpty()) {
                several.forEach(item -> event.withArray("items").add(item.toString()));
            } else if (each instanceof Enum<?> constant) {
                event.put("constant", constant.name());
            } else if (each instanceof CompletableFuture<?> future) {
                ticket(future, event.get("event").asInt());
            }
        }
    }

    private static int ticket(CompletableFuture<?> future, int fresh) {
        return TICKETS.computeIfAbsent(future, key -> {
            future.whenComplete((answer, thrown) -> answered(fresh, answer, thrown));
            return fresh;
        });
    }

    private static void replayed(ObjectNode event, Object[] given) {
        for (Object each : given) {
            if (each instanceof CoordinatorRecord record) {
                event.put("of", WRITTEN.getOrDefault(record, -1));
                event.set("record", record(record));
            } else if (each instanceof Long producer) {
                event.put("producer", producer);
            }
        }
    }

    private static void imaged(ObjectNode event, CoordinatorMetadataDelta delta, CoordinatorMetadataImage image) {
        var names = new TreeSet<String>();
        delta.changedTopicIds().forEach(id -> image.topicMetadata(id).ifPresent(topic -> names.add(topic.name())));
        CoordinatorMetadataImage before = manager == null ? image : (CoordinatorMetadataImage) read(manager, "metadataImage");
        delta.deletedTopicIds().forEach(id -> before.topicMetadata(id).ifPresent(topic -> names.add(topic.name())));
        names.forEach(event.putArray("names")::add);
        image(event.putObject("image"), image);
    }

    private static void resolved(ObjectNode event, Object[] given) {
        event.put("group", (String) given[0]);
        if (given[2] == null) {
            event.put("failed", true);
            return;
        }
        var topics = event.putObject("topics");
        ((Map<?, ?>) given[2]).forEach((regex, found) -> {
            var known = (ResolvedRegularExpression) found;
            new TreeSet<>(known.topics()).forEach(topics.putArray((String) regex)::add);
            event.put("version", known.version()).put("timestamp", known.timestamp());
        });
    }

    public static void left(Object token, Object[] given, Object result, Throwable thrown) {
        depth--;
        if (token == null) {
            return;
        }
        var event = (ObjectNode) token;
        current = null;
        int number = event.get("event").asInt();
        if (thrown != null) {
            var error = Errors.forException(thrown);
            event.putObject("error").put("code", error.code()).put("message", thrown.getMessage());
            event.put("thrown", thrown.getClass().getSimpleName());
        } else if (result instanceof CoordinatorResult<?, ?> made) {
            written(event, made, number);
        } else if (result instanceof ApiMessage answer) {
            event.set("answer", json(answer, -1));
        } else if (result instanceof List<?> several) {
            for (Object each : several) {
                if (each instanceof ApiMessage answer) {
                    event.withArray("answers_now").add(json(answer, -1));
                }
            }
        } else if (result instanceof Boolean || result instanceof Integer) {
            event.put("returned", result.toString());
        }
        if (result instanceof ConsumerGroup group) {
            changed(group);
        }
        List<?> records = result instanceof List<?> several ? several : null;
        for (Object each : given) {
            records = each instanceof List<?> several && records == null ? several : records;
        }
        if (records != null) {
            collect(event, records, number);
        }
        print(event);
    }

    private static void written(ObjectNode event, CoordinatorResult<?, ?> made, int number) {
        collect(event, made.records(), number);
        if (made.response() instanceof ApiMessage answer) {
            event.set("answer", json(answer, -1));
        }
        event.put("replays", made.replayRecords());
        if (made.appendFuture() != null) {
            event.put("appends", true);
            made.appendFuture().whenComplete((nothing, thrown) -> {
                var appended = event("appended").put("of", number);
                if (thrown != null) {
                    appended.put("code", Errors.forException(thrown).code());
                }
                print(appended);
            });
        }
    }

    private static void collect(ObjectNode event, Collection<?> records, int number) {
        for (Object each : records) {
            if (each instanceof CoordinatorRecord record) {
                WRITTEN.put(record, number);
                event.withArray("records").add(record(record));
            }
        }
    }

    private static void answered(int ticket, Object answer, Throwable thrown) {
        var event = JSON.createObjectNode().put("ticket", ticket);
        if (answer instanceof ApiMessage message) {
            event.set("answer", json(message, -1));
        } else {
            event.put("code", Errors.forException(thrown).code());
        }
        if (current != null) {
            current.withArray("answered").add(event);
        } else {
            print(event.put("what", "answered").put("event", ++events));
        }
    }

    @SuppressWarnings("unchecked")
    public static Object scheduled(String key, Object operation) {
        var inner = (CoordinatorTimer.TimeoutOperation<CoordinatorRecord>) operation;
        CoordinatorTimer.TimeoutOperation<CoordinatorRecord> outer = () -> {
            Object event = entered(null, "fired", new Object[] {key});
            CoordinatorResult<Void, CoordinatorRecord> result = null;
            Throwable thrown = null;
            try {
                result = inner.generateRecords();
                return result;
            } catch (RuntimeException error) {
                thrown = error;
                throw error;
            } finally {
                left(event, new Object[0], result, thrown);
            }
        };
        return outer;
    }

    public static void drawn(String id) {
        if (current != null) {
            current.put("drawn", id);
        }
    }

    public static void changed(Object group) {
        if (depth > 0 || manager == null) {
            return;
        }
        var groups = (Map<?, ?>) read(manager, "groups");
        if (groups != null && groups.values().stream().anyMatch(each -> each == group)) {
            CHANGED.put((String) read(group, "groupId"), group);
        }
    }

    /** Prints the groups that the test changed by their own methods, whole, as they are before something is asked of them. */
    private static void printChanged() {
        depth++;
        var changed = new ArrayList<>(CHANGED.values());
        CHANGED.clear();
        for (Object each : changed) {
            var event = event("state").put("group", (String) read(each, "groupId"));
            if (each instanceof ClassicGroup group) {
                classic(event.putObject("classic"), group);
            } else if (each instanceof ConsumerGroup group) {
                var records = new ArrayList<CoordinatorRecord>();
                group.createConsumerGroupRecords(records);
                records.forEach(record -> event.withArray("records").add(record(record)));
                var deadline = group.metadataRefreshDeadline();
                event.putArray("refresh").add(deadline.deadlineMs).add(deadline.epoch);
            }
            print(event);
        }
        depth--;
    }

    private static void classic(ObjectNode into, ClassicGroup group) {
        into.put("state", group.currentState().toString()).put("previous_state", group.previousState().toString());
        into.put("state_timestamp_ms", group.currentStateTimestampOrDefault());
        into.put("generation", group.generationId()).put("protocol_type", group.protocolType().orElse(null));
        into.put("protocol_name", group.protocolName().orElse(null)).put("leader", group.leaderOrNull());
        into.put("new_member_added", group.newMemberAdded());
        ((Set<?>) read(group, "pendingJoinMembers")).forEach(each -> into.withArray("pending").add((String) each));
        group.allPendingSyncMembers().forEach(into.withArray("pending_sync")::add);
        group.subscribedTopics().ifPresent(topics -> topics.forEach(into.withArray("subscribed")::add));
        var members = into.putArray("members");
        for (ClassicGroupMember each : group.allMembers()) {
            var member = members.addObject().put("member_id", each.memberId()).put("instance_id", each.groupInstanceId().orElse(null));
            member.put("client_id", each.clientId()).put("client_host", each.clientHost()).put("is_new", each.isNew());
            member.put("rebalance_timeout_ms", each.rebalanceTimeoutMs()).put("session_timeout_ms", each.sessionTimeoutMs());
            member.put("protocol_type", each.protocolType()).put("assignment", base64(each.assignment()));
            var protocols = member.putArray("protocols");
            each.supportedProtocols().forEach(known -> protocols.addArray().add(known.name()).add(base64(known.metadata())));
            waiting(member, "parked_join", each.awaitingJoinFuture());
            waiting(member, "parked_sync", each.awaitingSyncFuture());
        }
    }

    private static void waiting(ObjectNode member, String name, CompletableFuture<?> future) {
        if (future != null) {
            member.put(name, ticket(future, ++events));
        }
    }

    public static void assigned(Object assignor, Object result, Throwable thrown) {
        if (current == null) {
            return;
        }
        var event = current.withArray("assigned").addObject().put("by", assignor.getClass().getSimpleName());
        event.put("name", ((ConsumerGroupPartitionAssignor) assignor).name());
        if (thrown != null) {
            event.put("thrown", String.valueOf(thrown.getMessage()));
            return;
        }
        var members = event.putObject("members");
        ((GroupAssignment) result).members().forEach((member, assignment) -> {
            var topics = members.putObject(member);
            assignment.partitions().forEach((id, partitions) -> partitions.forEach(topics.withArray("/" + id)::add));
        });
    }

    private static ObjectNode event(String what) {
        var event = JSON.createObjectNode().put("what", what).put("event", ++events).put("now", clock.milliseconds());
        return event.put("manager", MANAGERS.getOrDefault(manager, -1));
    }

    private static ObjectNode record(CoordinatorRecord record) {
        var coded = JSON.createObjectNode().put("key", base64(SERDE.serializeKey(record)));
        byte[] value = SERDE.serializeValue(record);
        return coded.put("value", value == null ? null : base64(value));
    }

    private static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    private static void image(ObjectNode into, CoordinatorMetadataImage image) {
        into.put("version", image.version());
        var topics = into.putArray("topics");
        for (String name : new ArrayList<>(image.topicNames())) {
            var known = image.topicMetadata(name).orElseThrow();
            var topic = topics.addObject().put("name", name).put("id", known.id().toString());
            var racks = topic.putArray("racks");
            for (int partition = 0; partition < known.partitionCount(); partition++) {
                known.partitionRacks(partition).forEach(racks.addArray()::add);
            }
        }
    }

    private static JsonNode json(ApiMessage message, int version) {
        try {
            Class<?> outer = message.getClass();
            while (outer.getEnclosingClass() != null) {
                outer = outer.getEnclosingClass();
            }
            String converter = outer.getName() + "JsonConverter";
            if (outer != message.getClass()) {
                converter += "$" + message.getClass().getSimpleName() + "JsonConverter";
            }
            Method write = Class.forName(converter).getMethod("write", message.getClass(), short.class);
            try {
                return (JsonNode) write.invoke(null, message, version < 0 ? message.highestSupportedVersion() : (short) version);
            } catch (ReflectiveOperationException older) {
                return (JsonNode) write.invoke(null, message, message.highestSupportedVersion());
            }
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Object read(Object from, String name) {
        for (Class<?> type = from.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                return field.get(from);
            } catch (NoSuchFieldException missing) {
                continue;
            } catch (IllegalAccessException error) {
                throw new IllegalStateException(error);
            }
        }
        return null;
    }

    private static void print(ObjectNode event) {
        out.println(event);
    }
}
