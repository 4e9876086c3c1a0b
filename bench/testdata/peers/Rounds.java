import com.google.gson.*;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.*;
import java.util.*;
import za.co.entelect.challenge.config.GameConfig;
import za.co.entelect.challenge.core.engine.TowerDefenseRoundProcessor;
import za.co.entelect.challenge.entities.*;
import za.co.entelect.challenge.enums.PlayerType;
import za.co.entelect.challenge.game.contracts.command.RawCommand;
import za.co.entelect.challenge.game.contracts.game.GamePlayer;

/**
 * Plays recorded games, compares both players after every round with the recording, and prints
 * thousands of rounds per second of processor time. See PEERS.md.
 */
public class Rounds {
    public static void main(String[] args) throws Exception {
        GameConfig.initConfig(args[0]);
        var os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        var games = new ArrayList<JsonObject[]>();
        for (int i = 1; i < args.length; i++)
            games.add(Files.readAllLines(Path.of(args[i])).stream().map(l -> JsonParser.parseString(l).getAsJsonObject())
                .filter(o -> o.has("c")).toArray(JsonObject[]::new));
        for (int pass = 0; pass < 8; pass++) {
            long rounds = 0, began = os.getProcessCpuTime();
            for (var lines : games) {
                var map = new TowerDefenseGameMap();
                var players = new TowerDefensePlayer[2];
                for (int p = 0; p < 2; p++)
                    map.registerPlayer(players[p] = new TowerDefensePlayer(PlayerType.values()[p], 20, 100));
                var processor = new TowerDefenseRoundProcessor();
                for (var line : lines) {
                    var commands = new Hashtable<GamePlayer, RawCommand>();
                    for (int p = 0; p < 2; p++)
                        commands.put(players[p], new RawCommand(line.getAsJsonArray("c").get(p).getAsString()));
                    processor.processRound(map, commands);
                    map.setCurrentRound(map.getCurrentRound() + 1);
                    for (int p = 0; p < 2; p++) {
                        var want = line.getAsJsonArray("p").get(p).getAsJsonArray();
                        if (want.get(0).getAsInt() != players[p].getEnergy() || want.get(1).getAsInt() != players[p].getHealth()
                            || want.get(2).getAsInt() != players[p].getHitsTaken() || want.get(3).getAsInt() != players[p].getScore())
                            throw new Exception("differs from " + want);
                    }
                }
                rounds += lines.length;
            }
            System.out.printf("%d rounds, equal; %.1f%n", rounds, 1e6 * rounds / (os.getProcessCpuTime() - began));
        }
    }
}
