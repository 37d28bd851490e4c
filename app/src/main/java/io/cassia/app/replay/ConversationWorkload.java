package io.cassia.app.replay;

import java.util.SplittableRandom;

/**
 * A made-up chat service: users talk in turns, each turn's prompt is the system prompt, the whole
 * conversation so far and the new message. Confined to its thread; the same seed gives the same
 * trace.
 *
 * <p>A few system prompts are shared by many users, few users write most of the messages (Zipf),
 * conversations end at random or when they have become long.
 */
public final class ConversationWorkload {
    private static final int SYSTEM_PROMPTS = 6;
    private static final int USERS = 400;
    private static final int LONGEST = 64;
    private static final double END_OF_CONVERSATION = 0.08;
    private static final int MEAN_GAP_MILLIS = 50;

    private final SplittableRandom random;
    private final Trace.Builder trace = new Trace.Builder();
    private final long[][] systemPrompts = new long[SYSTEM_PROMPTS][];
    private final long[][] histories = new long[USERS][LONGEST + 16];
    private final int[] lengths = new int[USERS];
    private final double[] popularity = new double[USERS];
    private long nextId;

    private ConversationWorkload(long seed) {
        random = new SplittableRandom(seed);
        for (int prompt = 0; prompt < SYSTEM_PROMPTS; prompt++) {
            systemPrompts[prompt] = new long[2 + 2 * prompt];
            for (int i = 0; i < systemPrompts[prompt].length; i++) {
                systemPrompts[prompt][i] = nextId++;
            }
        }
        double sum = 0;
        for (int user = 0; user < USERS; user++) {
            sum += 1.0 / (user + 1);
            popularity[user] = sum;
        }
    }

    /** A trace of so many requests. */
    public static Trace trace(long seed, int requests) {
        ConversationWorkload workload = new ConversationWorkload(seed);
        double millis = 0;
        for (int i = 0; i < requests; i++) {
            workload.turn((long) millis);
            millis += -MEAN_GAP_MILLIS * Math.log1p(-workload.random.nextDouble());
        }
        return workload.trace.build();
    }

    private void turn(long millis) {
        int user = user();
        if (lengths[user] >= LONGEST || random.nextDouble() < END_OF_CONVERSATION) {
            lengths[user] = 0;
        }
        say(user, 1 + random.nextInt(4));
        for (long id : systemPrompts[user % SYSTEM_PROMPTS]) {
            trace.addBlock(id);
        }
        for (int i = 0; i < lengths[user]; i++) {
            trace.addBlock(histories[user][i]);
        }
        trace.endRequest(millis);
        say(user, 1 + random.nextInt(3));
    }

    /** The user's or the model's words: new blocks behind the conversation. */
    private void say(int user, int blocks) {
        for (int i = 0; i < blocks; i++) {
            histories[user][lengths[user]++] = nextId++;
        }
    }

    private int user() {
        double at = random.nextDouble() * popularity[USERS - 1];
        int low = 0;
        int high = USERS - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (popularity[middle] < at) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
