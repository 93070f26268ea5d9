/**
 * The one live connection of this tab. Every view subscribes to what it shows; the cloud pushes what changes.
 *
 * States: closed (no subscriptions, or the tab is hidden) → opening → open → away (broken: tries again after 0.5 s to 15 s) → opening.
 * A browser has six connections to a cloud over HTTP/1.1 for all its tabs. Hidden tabs therefore hold none, and of the visible tabs only
 * the most recently used ones do (`tab-turns.ts`); the others open theirs for a moment, again and again.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { LiveService, type SubscriptionSchema, type Update } from '@platform/proto/platform/live/v1/live';
import { untrack } from 'svelte';
import { exactMs } from '../ui/now.svelte.ts';
import { uniqueId } from '../ui/unique-id.ts';
import { clientOf } from './clients.ts';
import type { Polled } from './poll.svelte.ts';
import { type Problem, problemOf } from './problem.ts';
import { Unreached } from './reach.ts';
import { endSession, session } from './session.svelte.ts';
import { createTabTurns, type TabNote } from './tab-turns.ts';

type Topic = Exclude<NonNullable<MessageInitShape<typeof SubscriptionSchema>['topic']>, { case: undefined }>;
export type Content = Exclude<Update['content'], { case: 'ended' | undefined }>;

interface Subscriber {
  readonly topic: Topic;
  take(content: Content): void;
  ended(problem: Problem): void;
}

const slowestMs = 15_000;
const fastestMs = 500;
/** The cloud sends a heartbeat every 10 s. */
const silenceMs = 25_000;
const hiddenMs = 20_000;
/** How long a tab whose turn it is keeps the connection, and how long it then waits for its next turn. */
const turnMs = 1_500;
const betweenTurnsMs = 4_000;
/** A tab tells the others at most once in this time that it is in use. */
const toldUseMs = 2_000;

const client = clientOf(LiveService);
const subscribers = new Map<number, Subscriber>();
let nextId = 1;
/** Ids that the cloud knows on the open connection. */
let told = new Set<number>();
let connection = '';
let attempt: AbortController | undefined;
let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;
let hiding: ReturnType<typeof setTimeout> | undefined;
const tabs = new BroadcastChannel('platform live');
const turns = createTabTurns({
  tab: uniqueId(),
  nowMs: exactMs,
  post: (note) => tabs.postMessage(note),
});
let isHolding = false;
/** Why the connection is away; otherwise undefined. */
const away = $state<{ problem: Problem | undefined }>({ problem: undefined });

/** Whether what the pages show may be out of date. */
export function isAway(): boolean {
  return away.problem !== undefined;
}

/** Opens the connection now, for example after signing in again. */
export function reconnect(): void {
  clearTimeout(retry);
  retry = undefined;
  if (attempt !== undefined || subscribers.size === 0 || document.hidden || !navigator.onLine) return;
  attempt = new AbortController();
  isHolding = turns.mayHold();
  if (isHolding) turns.hold();
  void run(attempt);
}

/** Leaves connections to other tabs until it is this tab's turn again. */
function endTurn(): void {
  close();
  if (subscribers.size > 0 && !document.hidden) retry = setTimeout(reconnect, betweenTurnsMs);
}

async function run(own: AbortController): Promise<void> {
  let silence: ReturnType<typeof setTimeout> | undefined;
  let turn: ReturnType<typeof setTimeout> | undefined;
  const listen = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => own.abort(new Error('The connection went silent.')), silenceMs);
  };
  try {
    listen();
    told = new Set(subscribers.keys());
    const subscriptions = [...subscribers].map(([id, { topic }]) => ({ id, topic }));
    for await (const message of client.watch({ subscriptions }, { signal: own.signal, timeoutMs: 0 })) {
      listen();
      [failures, away.problem] = [0, undefined];
      if (isHolding) turns.hold();
      else
        turn ??= setTimeout(() => {
          if (attempt === own && !isHolding) endTurn();
        }, turnMs);
      if (message.connection !== '') {
        connection = message.connection;
        void tell();
      }
      for (const { id, content } of message.updates) hand(id, content);
    }
    throw new ConnectError('The cloud ended the connection.', Code.Unavailable);
  } catch (caught) {
    if (attempt === own) broken(caught);
  } finally {
    clearTimeout(silence);
    clearTimeout(turn);
  }
}

function hand(id: number, content: Update['content']): void {
  const subscriber = subscribers.get(id);
  if (content.case === 'ended')
    subscriber?.ended(problemOf(new ConnectError(content.value.message, content.value.code)));
  else if (content.case !== undefined) subscriber?.take(content);
}

function broken(caught: unknown): void {
  close();
  if (ConnectError.from(caught).code === Code.Unauthenticated) endSession();
  away.problem = problemOf(caught);
  if (subscribers.size === 0) return;
  retry = setTimeout(reconnect, session.ended ? slowestMs : pauseMs(failures++));
}

/** With jitter, so that tabs do not all reconnect at once after a restart of the cloud. */
function pauseMs(failed: number, random: () => number = Math.random): number {
  return Math.min(slowestMs, fastestMs * 2 ** failed) * (0.75 + random() / 2);
}

function close(): void {
  clearTimeout(retry);
  const open = attempt;
  [attempt, connection, isHolding] = [undefined, '', false];
  turns.letGo();
  open?.abort();
}

let telling = false;
/** Tells the cloud which subscriptions were added and removed since the connection opened; one request at a time. */
async function tell(): Promise<void> {
  if (telling) return;
  telling = true;
  try {
    for (;;) {
      // Views that come and go together share one request.
      await Promise.resolve();
      const [asked, own] = [connection, attempt];
      const add = [...subscribers].filter(([id]) => !told.has(id)).map(([id, { topic }]) => ({ id, topic }));
      const remove = [...told].filter((id) => !subscribers.has(id));
      if (asked === '' || (add.length === 0 && remove.length === 0)) return;
      told = new Set(subscribers.keys());
      try {
        const { known } = await client.change({ connection: asked, add, remove });
        if (!known && attempt === own) broken(new ConnectError('The cloud was restarted.', Code.Unavailable));
      } catch (caught) {
        if (attempt === own) broken(caught);
      }
    }
  } finally {
    telling = false;
  }
}

function subscribe(subscriber: Subscriber): () => void {
  const id = nextId++;
  subscribers.set(id, subscriber);
  if (connection === '') reconnect();
  else void tell();
  return () => {
    subscribers.delete(id);
    if (connection !== '') void tell();
  };
}

tabs.addEventListener('message', ({ data }: MessageEvent<TabNote>) => {
  turns.hear(data);
  if (isHolding && !turns.mayHold()) endTurn();
});
let toldUseAtMs = exactMs();
/** The tab in use keeps its connection, or opens it again. */
function used(): void {
  if (isHolding && exactMs() - toldUseAtMs < toldUseMs) return;
  toldUseAtMs = exactMs();
  turns.used();
  // While the cloud is away, a key press does not start another attempt.
  if (attempt === undefined && !isAway()) reconnect();
  else if (attempt !== undefined) {
    isHolding = true;
    turns.hold();
  }
}
for (const event of ['pointerdown', 'keydown', 'focus']) window.addEventListener(event, used, { passive: true });
window.addEventListener('pagehide', close);
// The page came back from the browser's back/forward cache.
window.addEventListener('pageshow', reconnect);
document.addEventListener('visibilitychange', () => {
  clearTimeout(hiding);
  if (document.hidden) hiding = setTimeout(close, hiddenMs);
  else {
    used();
    reconnect();
  }
});
window.addEventListener('online', reconnect);
window.addEventListener('offline', () => {
  if (attempt !== undefined) broken(new Unreached('offline'));
});

/**
 * The value of a topic, kept up to date. Call it while a component is being created; it stops when the component is destroyed.
 *
 * @param topic runs again when what it reads changes; undefined: no subscription, and the last value stays
 * @param next the value after an update; `before` is undefined for the first one of a topic
 */
export function live<T>(
  topic: () => Topic | undefined,
  next: (content: Content, before: T | undefined) => T,
): Polled<T> {
  let value = $state.raw<T>();
  let ended = $state.raw<Problem>();
  let again = $state(0);
  let shown = '';
  // As text, so that equal topics compare as equal.
  const wanted = $derived(JSON.stringify(topic()) ?? '');
  $effect(() => {
    void again;
    ended = undefined;
    if (wanted === '') return undefined;
    if (wanted !== shown) value = undefined;
    shown = wanted;
    let latest = untrack(() => value);
    return subscribe({
      topic: JSON.parse(wanted) as Topic,
      take(content) {
        latest = next(content, latest);
        [value, ended] = [latest, undefined];
      },
      ended: (problem) => {
        ended = problem;
      },
    });
  });
  return {
    get value() {
      return value;
    },
    get problem() {
      return ended ?? away.problem;
    },
    refresh() {
      again += 1;
    },
  };
}
