// Steps a game with random actions, and prints thousands of agent-steps per second of processor
// time. The settings are those of the game's own program. See PEERS.md.
#include <string.h>
#include <time.h>
#if defined PLAY_SNAKE
#include "snake/snake.h"
#define AGENTS 64
#define ACT(j) env.actions[j] = R % 4
CSnake env = {.num_snakes = 64, .width = 135, .height = 90, .max_snake_length = 200, .food = 256, .vision = 5,
    .leave_corpse_on_death = 1, .reward_food = 1, .reward_corpse = 0.5, .reward_death = -1};
#define ALLOCATE allocate_csnake
#elif defined PLAY_CONNECT4
#include "connect4/connect4.h"
#define AGENTS 1
#define ACT(j) env.actions[j] = R % 7
CConnect4 env = {0};
#define ALLOCATE allocate_cconnect4
#elif defined PLAY_GO
#include "go/go.h"
#define AGENTS 1
#define ACT(j) env.actions[j] = R % 82
CGo env = {.width = 950, .height = 640, .grid_size = 9, .board_width = 640, .board_height = 640, .grid_square_size = 64, .komi = 7.5};
#define ALLOCATE allocate
#elif defined PLAY_BREAKOUT
#include "breakout/breakout.h"
#define AGENTS 1
#define ACT(j) env.actions[j] = R % 4
Breakout env = {.frameskip = 1, .width = 576, .height = 330, .paddle_width = 62, .paddle_height = 8, .ball_width = 32,
    .ball_height = 32, .brick_width = 32, .brick_height = 12, .brick_rows = 6, .brick_cols = 18};
#define ALLOCATE allocate
#else // PLAY_MOBA
#include "moba/moba.h"
#define AGENTS 5
#define ACT(j) (env.actions[6*j] = R % 600 - 300, env.actions[6*j+1] = R % 600 - 300, env.actions[6*j+2] = R % 3, \
    env.actions[6*j+3] = R % 2, env.actions[6*j+4] = R % 2, env.actions[6*j+5] = R % 2)
MOBA env = {.vision_range = 5, .agent_speed = 1.0, .discretize = 1, .reward_death = -1.0, .reward_xp = 0.006,
    .reward_distance = 0.05, .reward_tower = 3.0, .script_opponents = 1};
#define ALLOCATE allocate_moba
#endif

static unsigned seed = 1;
#define R (int)((seed = seed * 1664525u + 1013904223u) >> 8)

int main() {
    ALLOCATE(&env);
    reset(&env);
    long steps = 0;
    clock_t began = clock(), now;
    do {
        for (int i = 0; i < 500; i++, steps++) {
            for (int j = 0; j < AGENTS; j++) ACT(j);
            step(&env);
        }
    } while ((now = clock()) - began < CLOCKS_PER_SEC);
    printf("%.1f\n", 1e3 * steps * AGENTS / (now - began));
}
