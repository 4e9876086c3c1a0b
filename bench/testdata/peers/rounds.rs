// Plays recorded games, compares every round with the recording, and plays random games. Prints
// millions of rounds per second of processor time. See PEERS.md.
extern crate rand; extern crate serde_json; extern crate zombot;
use rand::{SeedableRng, XorShiftRng};
use zombot::engine::{bitwise_engine::*, command::*, constants::*, geometry::Point, status::GameStatus};
use zombot::strategy::monte_carlo::random_move;

extern "C" { fn clock() -> i64; } // processor time in microseconds

fn start() -> BitwiseGameState {
    let mut p = Player::empty();
    p.energy = 20;
    p.health = 100;
    BitwiseGameState::new(p.clone(), p, 0)
}

fn command(text: &str) -> Command {
    let n: Vec<u8> = text.split(',').filter_map(|s| s.parse().ok()).collect();
    match n.len() {
        0 => Command::Nothing,
        _ if n[2] == 5 => Command::IronCurtain,
        _ => Command::Build(Point::new(n[0], n[1]), BuildingType::from_u8(n[2]).unwrap()),
    }
}

// Compares energy, health, buildings with their health, and missiles with a recorded round.
fn check(s: &BitwiseGameState, round: &serde_json::Value) {
    for (i, p) in [&s.player, &s.opponent].iter().enumerate() {
        let mut occupied = 0;
        let mut tiers = [0; DEFENCE_HEALTH];
        for b in round["b"].as_array().unwrap() {
            let n = |k: usize| b[k].as_i64().unwrap();
            if (n(0) > 7) == (i == 1) {
                let bit = Point::new(n(0) as u8, n(1) as u8).to_either_bitfield();
                occupied |= bit;
                for t in 0..if n(4) < 0 { n(3) / 5 } else { 0 } { tiers[t as usize] |= bit }
            }
        }
        let count = |cells: &dyn Fn(&(u64, u64)) -> u64, at: u64| p.missiles.iter().filter(|m| cells(m) & at != 0).count() as i64;
        let mut missiles = 0;
        for m in round["m"].as_array().unwrap() {
            let n = |k: usize| m[k].as_i64().unwrap();
            if n(2) == i as i64 {
                let at = Point::new(n(0) as u8, n(1) as u8).to_either_bitfield();
                assert_eq!(n(3), if (n(0) > 7) == (i == 1) { count(&|m| m.0, at) } else { count(&|m| m.1, at) });
                missiles += n(3);
            }
        }
        let all: u32 = p.missiles.iter().map(|m| m.0.count_ones() + m.1.count_ones()).sum();
        assert_eq!((round["p"][i][0].as_u64(), round["p"][i][1].as_u64(), occupied, tiers, missiles),
            (Some(p.energy as u64), Some(p.health as u64), p.occupied, p.buildings, all as i64));
    }
}

fn main() {
    let mut games: Vec<Vec<(Command, Command)>> = vec![];
    let mut rounds = 0;
    for file in std::env::args().skip(1) {
        let mut s = start();
        games.push(vec![]);
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let v: serde_json::Value = serde_json::from_str(line).unwrap();
            if let Some(c) = v["c"].as_array() {
                let c = (command(c[0].as_str().unwrap()), command(c[1].as_str().unwrap()));
                s.simulate(c.0, c.1);
                check(&s, &v);
                games.last_mut().unwrap().push(c);
                rounds += 1;
            }
        }
    }
    let mut energy = 0;
    let passes = 2_000_000 / rounds;
    let began = unsafe { clock() };
    for _ in 0..passes {
        for game in &games {
            let mut s = start();
            for c in game { s.simulate(c.0, c.1); }
            energy += s.player.energy as u64;
        }
    }
    let step = (passes * rounds) as f64 / (unsafe { clock() } - began) as f64;

    let mut rng = XorShiftRng::from_seed([7; 16]);
    let mut s = start();
    let mut ends = 0;
    let began = unsafe { clock() };
    for _ in 0..1_000_000 {
        let a = random_move(&s.player, &s.opponent, &mut rng);
        let b = random_move(&s.opponent, &s.player, &mut rng);
        if s.simulate(a, b) != GameStatus::Continue || s.round > MAX_MOVES { s = start(); ends += 1; }
    }
    let playout = 1e6 / (unsafe { clock() } - began) as f64;
    println!("{} games, {} rounds, equal; step {:.2} playout {:.2} ({} {})", games.len(), rounds, step, playout, energy, ends);
}
