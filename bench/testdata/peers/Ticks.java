import ai.RandomBiasedAI;
import ai.abstraction.WorkerRush;
import ai.abstraction.pathfinding.AStarPathFinding;
import ai.core.AI;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import rts.*;
import rts.units.UnitTypeTable;

/**
 * Plays a map with two players of a kind, and prints thousands of ticks, and of units in these
 * ticks, per second of processor time. See PEERS.md.
 */
public class Ticks {
    static AI player(boolean rush, UnitTypeTable t) {
        return rush ? new WorkerRush(t, new AStarPathFinding()) : new RandomBiasedAI(t);
    }

    public static void main(String[] args) throws Exception {
        var os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        boolean observe = args[1].equals("observe"), rush = args[1].equals("rush");
        var types = new UnitTypeTable();
        for (int pass = 0; pass < 4; pass++) {
            long ticks = 0, units = 0, games = 0, began = os.getProcessCpuTime();
            while (os.getProcessCpuTime() - began < 2e9) {
                var state = new GameState(PhysicalGameState.load(args[0], types), types);
                AI a = player(rush, types), b = player(rush, types);
                boolean over = false;
                for (games++; !over && state.getTime() < 5000; ticks++) {
                    if (observe) { state.getVectorObservation(0); state.getVectorObservation(1); }
                    PlayerAction x = a.getAction(0, state), y = b.getAction(1, state);
                    state.issueSafe(x);
                    state.issueSafe(y);
                    units += state.getUnits().size();
                    over = state.cycle();
                }
            }
            double time = (os.getProcessCpuTime() - began) / 1e6;
            System.out.printf("%d games; %.1f ticks, %.1f units; %.1f units a tick%n", games, ticks / time, units / time, (double) units / ticks);
        }
    }
}
