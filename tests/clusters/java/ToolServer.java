import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * One of Kafka's command line classes, called again and again in one process: a line of arguments parted by tabs in, a line of
 * base64 with what it printed out. Starting Java anew for each would take seconds.
 */
public class ToolServer {
    public static void main(String[] words) throws Exception {
        PrintStream answers = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        // One stream for good: Scala keeps the one that it finds first.
        PrintStream kept = new PrintStream(printed, true, StandardCharsets.UTF_8);
        System.setOut(kept);
        System.setErr(kept);
        neverExit();
        Method main = Class.forName(words[0]).getMethod("main", String[].class);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            printed.reset();
            try {
                main.invoke(null, (Object) line.split("\t"));
            } catch (InvocationTargetException error) {
                if (!(error.getCause() instanceof Ended)) {
                    kept.println("Error: " + error.getCause());
                }
            }
            answers.println(Base64.getEncoder().encodeToString(printed.toByteArray()));
            answers.flush();
        }
    }

    private static final class Ended extends RuntimeException {
    }

    /** Tools end the process where something is wrong; here the call ends. */
    private static void neverExit() throws Exception {
        Class<?> procedure = Class.forName("org.apache.kafka.common.utils.Exit$Procedure");
        Object ends = Proxy.newProxyInstance(procedure.getClassLoader(), new Class<?>[] {procedure}, (self, method, given) -> {
            throw new Ended();
        });
        Method set = Class.forName("org.apache.kafka.common.utils.Exit").getMethod("setExitProcedure", procedure);
        set.invoke(null, ends);
    }
}
