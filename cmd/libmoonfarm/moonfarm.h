/*
 * moonfarm.h: the environments of moonfarm for programs in C and in languages
 * that can call C. The library is built with
 *
 *     go build -buildmode=c-shared -o libmoonfarm.so ./cmd/libmoonfarm
 *
 * A program opens environments, binds its own memory to them, and then resets
 * and steps: the library reads actions from that memory and writes everything
 * else into it, on all cores. cmd/libmoonfarm/examples/example.c is an example.
 *
 * Every function but the first three returns MF_OK or an error code and fills
 * *e, unless e is NULL. The caller sets the field size of every struct,
 * mf_error included, to the sizeof of the struct. A struct of another size is
 * an error; the library does not read or write its other fields.
 *
 * Handles are numbers. A handle that is closed, invalid or of another kind gives
 * MF_HANDLE. Functions may be called from all threads: calls with the same
 * handle wait for each other, calls with different handles run in parallel.
 *
 * Datasets are opened and read in the same way: every batch is written to memory
 * of the program, whether its rows are read or made by playing the episodes
 * again (mf_reading.play).
 *
 * After fork the child must not call the library, whose threads fork does not copy.
 */
#ifndef MOONFARM_H
#define MOONFARM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MF_ABI 6 /* the result of mf_abi */

typedef uint64_t mf_handle; /* 0: none */

enum {
	MF_OK,
	MF_ARGUMENT, /* an argument is wrong: nothing was done */
	MF_HANDLE,   /* the handle does not exist, or is of another kind */
	MF_STATE,    /* called at the wrong time: no memory is bound, blocks are under way, a game has ended … */
	MF_DATA,     /* the data are damaged, or of another game or other rules */
	MF_INTERNAL, /* a bug of the library, described by the text */
	MF_END,      /* there is no more to read */
	MF_TIMEOUT,  /* nothing was ready in time */
	MF_MEMORY    /* there is not enough memory: nothing was done */
};

typedef struct {
	uint32_t size;
	int32_t code;
	char text[1016]; /* ends with 0 */
} mf_error;

enum { MF_ALL_SEATS = -1, MF_ANY_SEAT = -2 };
enum { MF_NEXT_STEP, MF_SAME_STEP, MF_DISABLED };

typedef struct {
	uint32_t size;
	int32_t num_envs;
	const char *game;      /* its name in mf_games */
	const char *rules;     /* text of the rules, as in files of rules; NULL: the default */
	const char *reward;    /* name of a reward of mf_describe; NULL: "result" */
	const char *form;      /* name of a form of mf_games: what a row observes, and what an action means; NULL or "": the first */
	const char *opponents; /* texts of policies, one per line: each episode draws one for each other seat; NULL: none;
	                          a path with blanks or special characters needs quotes: "my nets/td.onnx"(greedy).
	                          A line "-" is an opponent whose actions the program gives: then every seat is a row, and the
	                          actions of rows that the library plays are ignored */
	int32_t seat;          /* the caller's seat, from 0; MF_ALL_SEATS: every seat is a row; MF_ANY_SEAT: a seat is drawn for each episode */
	int32_t autoreset;     /* MF_NEXT_STEP, MF_SAME_STEP, MF_DISABLED: the modes of Gymnasium */
	int32_t max_turns;     /* games are cut after this many turns; 0: only the rules end them */
	int32_t memory;        /* not 0: planes show the last seen values where fog of war hides cells */
	int32_t workers;       /* threads that step; 0: one for each core */
	int32_t batch_size;    /* environments in a block of mf_send and mf_recv, a divisor of num_envs; 0: all */
	uint64_t seed;         /* environment i begins with seed+i, until mf_reset changes the seeds */
} mf_config;

typedef struct {
	uint32_t size;
	int32_t players, num_envs;
	int32_t rows;                 /* num_envs, or num_envs*players with MF_ALL_SEATS or an opponent "-": row env*players+seat */
	int32_t blocks, batch_size;   /* block b has the environments from b*batch_size on, and their rows */
	int32_t planes, height, width;
	int32_t words;                /* of the packed form of the planes */
	int32_t scalars, mask_words, heads;
	int32_t choices;              /* sum over all heads: the number of bits of a mask in use */
	int32_t max_orders;           /* of one seat in one turn */
	int32_t max_turns;            /* no episode is longer */
} mf_spec;

/*
 * Memory of the caller, in C order; an array that is NULL is not written. Arrays
 * must be aligned to their types, must not overlap (an error), and must stay until
 * the handle is closed or other memory is bound. The caller may read and write them
 * while no call of the handle runs, except rows of a block in progress. Arrays
 * without elements, such as the scalars of a game that has none, are ignored.
 */
typedef struct {
	uint32_t size, reserved;      /* reserved: 0 */
	uint8_t *planes;              /* [rows, planes, height, width] */
	uint64_t *packed;             /* [rows, words] */
	float *scalars;               /* [rows, scalars] */
	uint64_t *mask;               /* [rows, mask_words]: bit i%64 of word i/64 is choice i, head after head; once the game has ended, only the choice that orders nothing is legal ("nothing" of mf_describe) */
	uint64_t *key;                /* [rows] seed for the row's random choices this turn */
	int32_t *action;              /* [rows, heads] read by steps, never written; -1: nothing */
	float *reward;                /* [rows] of the latest step */
	uint8_t *terminated;          /* [num_envs] 1: the rules ended the game in the latest step */
	uint8_t *truncated;           /* [num_envs] 1: a limit cut the game */
	int32_t *turn;                /* [num_envs] turns played */
	uint8_t *seat;                /* [num_envs] the caller's seat; NULL with MF_ALL_SEATS */
	uint64_t *episode;            /* [num_envs] number of the episode, from 0 */
	uint8_t *final_planes;        /* the last observation of the latest ended episode; NULL except with MF_SAME_STEP */
	uint64_t *final_packed;
	float *final_scalars;
	float *final_score;           /* [rows] the outcome of the latest ended episode, in every mode: the game's score, */
	float *final_result;          /* [rows] and the result from +1 for the first place to -1 for the last */
	uint8_t *opponent;            /* [num_envs, players] the line of mf_config.opponents that plays the seat, from 0; 255: the caller; NULL with MF_ALL_SEATS */
	uint8_t *waits;               /* [rows] 1: the seat has ended its turn and waits for other seats, its action is ignored; 0 unless the form is sequential */
} mf_slabs;

enum { MF_ALL, MF_TRAIN, MF_VALIDATION, MF_TEST };

/* Options of mf_reader_open. All 0 except size: all columns of all rows in order. */
typedef struct {
	uint32_t size;
	int32_t split;            /* MF_ALL, MF_TRAIN, MF_VALIDATION, MF_TEST: all rows of an episode are in the same one of the three */
	double validation, test;  /* their shares of the episodes */
	const char *columns;      /* names of the columns, one per line; NULL: all except "opponent" and "orders" */
	int64_t rows;             /* of a batch; the last may have fewer; 0: 1024 */
	int64_t shuffle;          /* not 0: files are shuffled, and rows in windows of this many */
	uint64_t seed, epoch;     /* they choose the order */
	int32_t part, parts;      /* read part 0 … parts-1 of the episodes; parts 0: all. Parts are disjoint and complete */
	int32_t play;             /* not 0: rows are made by playing the episodes again. The following fields need it */
	int32_t whole;            /* not 0: a batch is an episode, and shuffle only shuffles episodes */
	int32_t memory;           /* with obs: planes show the last seen values where fog of war hides cells */
	int32_t workers;          /* threads that play; 0 or 1: the one that calls mf_reader_next */
	const char *obs;          /* "planes", "packed" or "none", which also leaves out masks and actions; NULL: as the dataset */
	const char *reward;       /* NULL: as the dataset */
	double discount;          /* of the returns; 0: as the dataset */
	int32_t steps;            /* not 0: the column nstep is the return of this many turns */
	int32_t next;             /* not 0: rows have the columns next_… of mf_batch, steps (0: 1) actions of the seat later. Not with whole */
	const char *filter;       /* NULL: all rows. Else lines "key=value" of which rows must match one per key: policy=NAME of the policy that
	                           * chose, or of the member of its mix, seat=0, chosen=0 (number of the member), outcome=win (draw, loss);
	                           * opening=no leaves out the turns of an opening. Not with whole */
	const char *form;         /* form of the rows; NULL: as the dataset. In a sequential form a row is an action, and seats that wait have no rows (with whole they have) */
} mf_reading;

/*
 * Memory for the rows of a batch, in C order. A column that is NULL, or that the
 * reader does not have, is not written. FORMAT.md of the datasets documents all.
 */
typedef struct {
	uint32_t size, reserved;      /* reserved: 0 */
	int64_t capacity;             /* room in rows */
	int64_t rows;                 /* set to the number in the batch */
	int64_t orders_capacity;      /* room in orders, if they are wanted */
	int64_t orders_count;         /* set to the number in the batch */
	uint64_t *episode;            /* [rows] */
	int32_t *turn;                /* [rows] */
	uint8_t *seat;                /* [rows] */
	uint8_t *planes;              /* [rows, planes, height, width] */
	uint64_t *packed;             /* [rows, words] */
	float *scalars;               /* [rows, scalars] */
	uint64_t *mask;               /* [rows, mask_words] */
	int32_t *action;              /* [rows, heads] */
	int32_t *opponent;            /* [rows, seats-1, heads] */
	float *reward, *returns, *nstep, *outcome;      /* [rows] */
	uint8_t *terminated, *truncated, *chosen;       /* [rows] */
	uint64_t *orders;             /* [orders_count] of all rows, one after the other */
	int32_t *order_ends;          /* [rows+1] row i has the orders from orders[order_ends[i]] to before orders[order_ends[i+1]] */
	uint8_t *final_planes;        /* with mf_reading.whole: the observations after the last turn, [seats, planes, height, width], */
	uint64_t *final_packed;       /* [seats, words], */
	float *final_scalars;         /* [seats, scalars] */
	int64_t moves_capacity;       /* room in moves of searches, if they are wanted */
	int64_t moves_count;          /* set to the number in the batch */
	int64_t choices_capacity;     /* room in choices of these moves */
	int64_t choices_count;
	float *search_value;          /* [rows] */
	float *search_policy;         /* [moves_count] of all rows, one after the other */
	int32_t *search_counts;       /* [moves_count]; none in games of one head */
	int32_t *search_ends;         /* [rows+1] ends of the moves of each row, like order_ends */
	int32_t *search_choices;      /* [choices_count] */
	int32_t *search_choice_ends;  /* [rows+1] ends of the choices of each row */
	int32_t *asked;               /* [rows, heads] what the policy of job.ask would choose */
	int32_t *step;                /* [rows] number of the action in its turn, in a sequential form */
	uint8_t *next_planes;         /* with mf_reading.next: the observation and the mask after that many actions, or after the last turn, as above */
	uint64_t *next_packed;
	float *next_scalars;
	uint64_t *next_mask;
	float *next_discount;         /* [rows] weight of the value of that observation; 0: the rules had ended the episode */
} mf_batch;

#ifndef MF_TYPES_ONLY

uint32_t mf_abi(void);                /* MF_ABI of the library */
uint32_t mf_sizeof(const char *name); /* of a struct of this file, such as "mf_config"; 0: unknown */
const char *mf_version(void);         /* never NULL; stays valid */

/* mf_open makes environments. They begin with mf_bind and mf_reset. */
int32_t mf_open(const mf_config *c, mf_handle *out, mf_error *e);

/* mf_close takes any kind of handle. It waits for running calls and blocks, but ends the searches of opponents. */
int32_t mf_close(mf_handle h, mf_error *e);

int32_t mf_get_spec(mf_handle h, mf_spec *out, mf_error *e);

/*
 * Functions with cap and need write at most cap bytes to buf and set *need to
 * the size of the result. If that is more than cap, nothing is written to buf and
 * the code is MF_OK; buf may be NULL if cap is 0. A 0 byte follows a text if there
 * is room for it, which is if cap is more than *need; *need does not count it.
 */

/*
 * mf_describe writes the meaning of planes, scalars, actions and rewards as JSON. In a
 * form with "tensors" (name, doc, dims, axis, fields) planes, height and width are 1, 1
 * and the number of values of a row, in which the tensors lie one after the other. "forms"
 * lists all forms of the game. If "sequential" is true, an action is a part of a turn, one
 * order, and a turn is played once every seat has ended its own (mf_slabs.waits); seats of
 * opponents never make the caller wait.
 */
int32_t mf_describe(mf_handle h, char *buf, size_t cap, size_t *need, mf_error *e);

/* mf_bind sets the memory that all later calls read and write. */
int32_t mf_bind(mf_handle h, const mf_slabs *s, mf_error *e);

/*
 * mf_set_weights sets how likely each of the opponents is drawn: numbers in proportion to the
 * probabilities, one for each line of mf_config.opponents; 0: never. Episodes that begin later draw
 * by them; blocks under way draw by those with which they were sent. At first all are equal.
 */
int32_t mf_set_weights(mf_handle h, const double *weights, mf_error *e);

/*
 * mf_reset begins new episodes and writes their observations. seeds [num_envs]:
 * environment i begins episode 0 of seeds[i]; NULL: each begins the next episode of
 * its seed. mask [num_envs]: only environments whose entry is not 0; NULL: all.
 */
int32_t mf_reset(mf_handle h, const uint64_t *seeds, const uint8_t *mask, mf_error *e);

/*
 * mf_step plays a turn of all environments with the bound actions, mf_step_with
 * with the actions at another address, int32_t [rows, heads], which are not copied.
 */
int32_t mf_step(mf_handle h, mf_error *e);
int32_t mf_step_with(mf_handle h, const int32_t *action, mf_error *e);

/*
 * mf_ask writes to action, int32_t [rows, heads], what a policy would choose in each row,
 * in the form of the environments. policy is a text as in mf_config.opponents; policies with
 * time budgets are refused there and here, recurrent networks only here. An entry is -1 where no choice of the head says it,
 * and in rows that have ended or wait. mask, uint8_t [rows], selects rows: all others get -1
 * and cost nothing; NULL: all rows. The answer for a row does not depend on other rows, on
 * workers or on earlier calls. The policy is made by the first call with its text and stays
 * until mf_close. action may be the bound one, and must not overlap other bound memory.
 *
 * It waits at most wait_ms milliseconds, or for ever if that is negative. MF_TIMEOUT means
 * that the policy is choosing: the next mf_ask ignores policy, mask and action and goes on
 * waiting; until then the same holds as for mf_step_for. mf_interrupt ends it.
 */
int32_t mf_ask(mf_handle h, const char *policy, const uint8_t *mask, int32_t *action, int32_t wait_ms, mf_error *e);

/*
 * mf_step_for is mf_step_with, or mf_step if action is NULL, that waits at most wait_ms
 * milliseconds, so that a program can do other work meanwhile: opponents that search
 * may take minutes. MF_TIMEOUT means that the turn is under way. The next mf_step_for
 * ignores action and goes on waiting. Until the turn is over, action must stay, and all
 * other calls of the handle except mf_interrupt and mf_close return MF_STATE.
 *
 * mf_interrupt ends the turn under way, and returns when it is over. If opponents were
 * still choosing, no turn was played, and the step may be repeated; else the turn was
 * played. Another thread may call it while mf_step_for runs (or mf_step and mf_step_with,
 * if opponents search): that call then returns MF_STATE if no turn was played. Without a
 * turn under way mf_interrupt does nothing.
 */
int32_t mf_step_for(mf_handle h, const int32_t *action, int32_t wait_ms, mf_error *e);
int32_t mf_interrupt(mf_handle h, mf_error *e);

/*
 * mf_send begins a turn of one block and returns at once. mf_recv waits at most
 * wait_ms milliseconds, or for ever if that is negative, for the block that is ready
 * first; without one it returns MF_TIMEOUT. The episodes are the same as with mf_step.
 */
int32_t mf_send(mf_handle h, int32_t block, mf_error *e);
int32_t mf_recv(mf_handle h, int32_t wait_ms, int32_t *block, mf_error *e);

/*
 * mf_get_state writes the state of one environment as bytes. mf_set_state restores it,
 * in the same environment or another one of the same game and rules, and writes the
 * observations of its rows. An environment of another seat keeps its seat, and its
 * opponents are drawn from the seed of the state. mf_observe writes the observations of
 * all environments again, for example after mf_bind.
 */
int32_t mf_get_state(mf_handle h, int32_t env, uint8_t *buf, size_t cap, size_t *need, mf_error *e);
int32_t mf_set_state(mf_handle h, int32_t env, const uint8_t *buf, size_t n, mf_error *e);
int32_t mf_observe(mf_handle h, mf_error *e);

/*
 * mf_state_from makes a state for mf_set_state from a message of an original engine to a
 * bot: for "towerdefence" a state.json, for "terminal" the line of a deploy frame (rules is
 * then the line of the config), for "codecraft" the bytes of a message with a view, or of a
 * PlayerView. n is its size in bytes. seat is the bot's seat; -1: the seat in the message, or
 * 0 for terminal, whose messages lack it. seed is the random seed for the rest of the game.
 * The packages sim/<game>/wire document the values that are assumed where messages lack
 * them. An invalid message gives MF_DATA with the name of the field. mf_message_describe
 * writes the rules, the seat and the number of players as JSON, for mf_open. The state is
 * for environments with these rules.
 */
int32_t mf_state_from(const char *game, const char *rules, const uint8_t *message, size_t n, int32_t seat, uint64_t seed,
	uint8_t *buf, size_t cap, size_t *need, mf_error *e);
int32_t mf_message_describe(const char *game, const char *rules, const uint8_t *message, size_t n, int32_t seat,
	char *buf, size_t cap, size_t *need, mf_error *e);

/*
 * mf_answer_from writes the answer with which a bot at the seat plays an action,
 * int32_t [heads], in a state with these rules: for "towerdefence" the text of a
 * command.txt, for "terminal" two lines, for "codecraft" the bytes of a message.
 */
int32_t mf_answer_from(const char *game, const char *rules, const uint8_t *state, size_t n, int32_t seat,
	const int32_t *action, int32_t heads, uint8_t *buf, size_t cap, size_t *need, mf_error *e);

/* mf_render writes the whole board of one environment as text. */
int32_t mf_render(mf_handle h, int32_t env, char *buf, size_t cap, size_t *need, mf_error *e);

/*
 * mf_render_rgb draws the whole board of one environment as pixels, uint8_t [height, width, 3]: red, green, blue.
 * width is in pixels, at most 8192, and the height follows from the board: it is need / (3 * width). mf_render_svg draws
 * it with the numbers of the players and a legend, as an svg element for a page, on which the id is unique.
 */
int32_t mf_render_rgb(mf_handle h, int32_t env, int32_t width, uint8_t *buf, size_t cap, size_t *need, mf_error *e);
int32_t mf_render_svg(mf_handle h, int32_t env, const char *id, char *buf, size_t cap, size_t *need, mf_error *e);

/*
 * mf_games lists all games as JSON: name, doc, players, max_turns, shapes (of a row: planes, packed, scalars, mask),
 * heads, rewards (name, doc), policies (name, doc), rules (key, value, least, most, doc), forms (name, doc, sequential,
 * shapes, heads, tensors). shapes and heads of the game are those of its first form, the default.
 */
int32_t mf_games(char *buf, size_t cap, size_t *need, mf_error *e);

/*
 * mf_dataset_open opens the dataset in a folder, or, in a library that is built with
 * -tags stores, at a URL such as s3://bucket/data/td. Its readers stay open when it is
 * closed.
 */
int32_t mf_dataset_open(const char *folder, mf_handle *out, mf_error *e);

/* mf_dataset_describe writes the manifest of the dataset, which is JSON. */
int32_t mf_dataset_describe(mf_handle h, char *buf, size_t cap, size_t *need, mf_error *e);

/*
 * mf_reader_open begins to read a dataset. mf_reader_describe lists its columns as
 * JSON: name, type, shape of a row. mf_reader_next writes the next batch and returns
 * MF_END after the last one. If the batch has more rows than capacity, or more of the
 * wanted orders, moves or choices than there is room for, then mf_reader_next only sets
 * rows and the three counts, and returns the same batch again next time. The library
 * makes the next batches while the program works with one, unless mf_reading.play is set
 * with one worker. After an error nothing more can be read.
 */
int32_t mf_reader_open(mf_handle dataset, const mf_reading *r, mf_handle *out, mf_error *e);
int32_t mf_reader_describe(mf_handle h, char *buf, size_t cap, size_t *need, mf_error *e);
int32_t mf_reader_next(mf_handle h, mf_batch *b, mf_error *e);

/*
 * mf_advantages writes to out, which may be reward or value, the generalised
 * advantage estimates (Schulman and others, 2016) of an episode: reward, value
 * and out are [turns, columns], with a column for each player. value holds the
 * caller's estimates, last [columns] the value after the last turn: the estimate
 * of the final observation if a limit cut the episode; NULL: 0.
 */
int32_t mf_advantages(const float *reward, const float *value, const float *last, int64_t turns, int64_t columns,
	double discount, double lambda, float *out, mf_error *e);

#endif /* MF_TYPES_ONLY */

#ifdef __cplusplus
}
#endif

#endif /* MOONFARM_H */
