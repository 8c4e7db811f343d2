import java.lang.reflect.*;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.*;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Type;

/**
 * Values for any message that Kafka generates, drawn from the schema of one version: the fields that the version has,
 * null where the schema allows it, and nothing else away from its default. The same seed gives the same values.
 */
final class Values {
    /** What the values of one message are like. */
    enum Mood { DEFAULTS, LOWEST, HIGHEST, ANY, UNKNOWN_TAGS }

    private static final String[] WORDS = {
        "", "foo", "orders", "größe", "日本", "\uD83D\uDE00", "a-b_c.d", "consumer-orders-1-8e7d", "\"\\\n\t\u0000\u007f\u2028", "x\uD83C\uDDE9\uD83C\uDDEAy"
    };
    private static final Uuid[] IDS = {
        Uuid.fromString("cLledStpRu6ixDUvA4jVgA"), Uuid.fromString("_-LledStpRu6ixDUvA4jVg"), Uuid.ZERO_UUID, new Uuid(-1, -1), new Uuid(0, 1)
    };
    /** Kafka's longest string, which an int16 length can just tell. */
    private static final int LONGEST_STRING_BYTES = 32_767;

    final Random random;
    private Mood mood = Mood.ANY;

    Values(long seed) { random = new Random(seed); }

    /** The values of one message in one version have a seed of their own: more of others leave them as they are. */
    static Values of(String name, int version) { return new Values(31L * name.hashCode() + version); }

    /** The first values of a message are its edges, then every third carries tags that nobody has declared. */
    static Mood mood(int round) {
        return switch (round) {
            case 0 -> Mood.DEFAULTS;
            case 1 -> Mood.LOWEST;
            case 2 -> Mood.HIGHEST;
            default -> round % 3 == 0 ? Mood.UNKNOWN_TAGS : Mood.ANY;
        };
    }

    <T extends Message> T fill(T message, short version, Mood mood) throws ReflectiveOperationException {
        this.mood = mood;
        if (mood != Mood.DEFAULTS) fields(message, schema(message.getClass(), version));
        return message;
    }

    static Schema schema(Class<?> type, short version) throws ReflectiveOperationException {
        return ((Schema[]) type.getField("SCHEMAS").get(null))[version];
    }

    private void fields(Message message, Schema schema) throws ReflectiveOperationException {
        // Schemas say group_id where setters say GroupId.
        Map<String, Type> wanted = new HashMap<>();
        Set<String> tagged = new HashSet<>();
        boolean flexible = false;
        for (BoundField field : schema.fields()) {
            if (field.def.type instanceof TaggedFields tags) {
                flexible = true;
                for (Field tag : tags.fields().values()) {
                    wanted.put(plain(tag.name), tag.type);
                    tagged.add(plain(tag.name));
                }
            } else {
                wanted.put(plain(field.def.name), field.def.type);
            }
        }
        for (Method setter : setters(message.getClass())) {
            String name = plain(setter.getName().substring("set".length()));
            Type type = wanted.remove(name);
            if (type == null || tagged.contains(name) && random.nextInt(3) == 0) continue;
            setter.invoke(message, value(type, setter.getGenericParameterTypes()[0]));
        }
        if (!wanted.isEmpty()) throw new IllegalStateException(message.getClass() + " has no setter for " + wanted.keySet());
        if (mood == Mood.UNKNOWN_TAGS && flexible && random.nextBoolean()) {
            message.unknownTaggedFields().add(new RawTaggedField(40, bytes(random.nextInt(4))));
            if (random.nextBoolean()) message.unknownTaggedFields().add(new RawTaggedField(300 + random.nextInt(100_000), bytes(0)));
        }
    }

    private static String plain(String name) { return name.replace("_", "").toLowerCase(Locale.ROOT); }

    private static List<Method> setters(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
            .filter(method -> method.getName().startsWith("set") && method.getParameterCount() == 1 && !method.isBridge())
            .sorted(Comparator.comparing(Method::getName)).toList();
    }

    private Object value(Type type, java.lang.reflect.Type java) throws ReflectiveOperationException {
        if (type.isNullable() && (mood == Mood.LOWEST || mood != Mood.HIGHEST && random.nextInt(4) == 0)) return null;
        if (type.arrayElementType().isPresent()) return list(type.arrayElementType().get(), java);
        Class<?> c = (Class<?>) java;
        if (type instanceof Schema schema) {
            Message element = (Message) c.getDeclaredConstructor().newInstance();
            fields(element, schema);
            return element;
        }
        if (c == String.class) return string();
        if (c == Uuid.class) return id();
        if (c == byte[].class) return bytes(length());
        if (c == ByteBuffer.class) return ByteBuffer.wrap(bytes(length()));
        if (c == boolean.class) return mood == Mood.HIGHEST || mood != Mood.LOWEST && random.nextBoolean();
        if (type == Type.UINT16) return (int) number(0, 0xFFFF);
        if (type == Type.UNSIGNED_INT32) return number(0, 0xFFFF_FFFFL);
        if (c == byte.class || c == Byte.class) return (byte) number(Byte.MIN_VALUE, Byte.MAX_VALUE);
        if (c == short.class || c == Short.class) return (short) number(Short.MIN_VALUE, Short.MAX_VALUE);
        if (c == int.class || c == Integer.class) return (int) number(Integer.MIN_VALUE, Integer.MAX_VALUE);
        if (c == long.class || c == Long.class) return number(Long.MIN_VALUE, Long.MAX_VALUE);
        if (c == double.class) return random.nextGaussian();
        throw new IllegalStateException("no value for " + c);
    }

    private Object list(Type element, java.lang.reflect.Type java) throws ReflectiveOperationException {
        boolean leaf = !(element instanceof Schema) && element.arrayElementType().isEmpty();
        int size = switch (mood) {
            case LOWEST -> 0;
            case HIGHEST -> 2;
            // Few are large, so that the lengths need a second byte.
            default -> leaf && random.nextInt(60) == 0 ? 130 : random.nextInt(leaf ? 5 : 3);
        };
        Collection<Object> out;
        java.lang.reflect.Type of;
        if (java instanceof ParameterizedType list) {
            out = new ArrayList<>();
            of = list.getActualTypeArguments()[0];
        } else {
            // A collection with keys: named after its elements.
            @SuppressWarnings("unchecked") var keyed = (Collection<Object>) ((Class<?>) java).getDeclaredConstructor().newInstance();
            out = keyed;
            of = Class.forName(((Class<?>) java).getName().replaceAll("Collection$", ""));
        }
        for (int i = 0; i < size; i++) out.add(value(element, of));
        return out;
    }

    private String string() {
        if (mood == Mood.LOWEST) return "";
        if (mood == Mood.HIGHEST) return "größe ".repeat(19);
        int chance = random.nextInt(4000);
        if (chance == 0) return "a".repeat(LONGEST_STRING_BYTES);
        return chance < 100 ? "l-".repeat(100) : word();
    }

    String word() { return WORDS[random.nextInt(WORDS.length)]; }

    private Uuid id() {
        if (mood == Mood.LOWEST) return Uuid.ZERO_UUID;
        return random.nextInt(3) == 0 ? new Uuid(random.nextLong(), random.nextLong()) : IDS[random.nextInt(IDS.length)];
    }

    private int length() {
        return mood == Mood.LOWEST ? 0 : mood == Mood.HIGHEST ? 130 : random.nextInt(16);
    }

    byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** The edges, what Kafka writes most (0, -1, small ones, times), and now and then anything. */
    private long number(long least, long most) {
        if (mood == Mood.LOWEST) return least;
        if (mood == Mood.HIGHEST) return most;
        long number = switch (random.nextInt(8)) {
            case 0 -> least;
            case 1 -> most;
            case 2, 3 -> 0;
            case 4 -> -1;
            case 5 -> most > Integer.MAX_VALUE ? 1_795_224_375_134L + random.nextInt(100_000) : random.nextInt(100);
            case 6 -> random.nextInt(300);
            default -> random.nextLong();
        };
        // What does not fit is cut down to the bits that do.
        return number < least || number > most ? number & most : number;
    }
}
