/**
 * One live connection: its subscriptions, each with a source that runs until it is removed, fails, or its reader leaves.
 *
 * States of a subscription: added → running → ended (removed; failed or no longer authorized: after a last update with the reason).
 */
import { create } from '@bufbuild/protobuf';
import { type Clock, codes, newId, PlatformError, resourceExhausted } from '@platform/base';
import { type Subscription, type Update, UpdateSchema } from '@platform/proto/platform/live/v1/live';
import type { CloudCall, Principal } from '../access/principal.ts';
import { maxSubscriptions } from './limits.ts';
import { Slots } from './slots.ts';
import type { Content, Source } from './source.ts';

interface Running {
  readonly source: Source;
  readonly over: AbortController;
}

export class LiveConnection implements Disposable {
  readonly id: string = newId();
  readonly #call: CloudCall;
  readonly #slots: Slots<Update>;
  readonly #sourceOf: (topic: Subscription['topic']) => Source;
  readonly #report: (caught: unknown) => PlatformError;
  readonly #running = new Map<number, Running>();
  #principal: Principal;

  /** @param report converts an error to the text for the reader */
  constructor(
    call: CloudCall,
    clock: Clock,
    sourceOf: (topic: Subscription['topic']) => Source,
    report: (caught: unknown) => PlatformError,
  ) {
    this.#call = call;
    this.#report = report;
    this.#principal = call.principal;
    this.#slots = new Slots(clock);
    this.#sourceOf = sourceOf;
  }

  /** @throws resource_exhausted; then nothing was changed */
  change(remove: readonly number[], add: readonly Subscription[]): void {
    const kept = [...this.#running.keys()].filter((id) => !remove.includes(id));
    const count = new Set([...kept, ...add.map(({ id }) => id)]).size;
    if (count > maxSubscriptions)
      throw resourceExhausted(
        `expected at most ${maxSubscriptions} subscriptions of a live connection, found ${count}; remove some`,
      );
    for (const id of remove) this.#end(id);
    for (const one of add) this.#start(one);
  }

  /** The caller is another one, or has fewer rights: subscriptions that it may no longer have end. */
  recheck(principal: Principal): void {
    this.#principal = principal;
    for (const [id, { source }] of this.#running) {
      try {
        source.authorize(principal);
      } catch (caught) {
        this.#refuse(id, caught);
      }
    }
  }

  /** Updates of all subscriptions, as soon as there are any; empty after `waitMs`. */
  take(waitMs: number, signal: AbortSignal): Promise<readonly Update[]> {
    return this.#slots.take(waitMs, signal);
  }

  [Symbol.dispose](): void {
    for (const id of this.#running.keys()) this.#end(id);
  }

  #start({ id, topic }: Subscription): void {
    this.#end(id);
    const over = new AbortController();
    try {
      const source = this.#sourceOf(topic);
      source.authorize(this.#principal);
      this.#running.set(id, { source, over });
      this.#run(id, source, over.signal).catch((caught: unknown) => {
        if (!over.signal.aborted) this.#refuse(id, caught);
      });
    } catch (caught) {
      this.#refuse(id, caught);
    }
  }

  async #run(id: number, source: Source, signal: AbortSignal): Promise<void> {
    const reader = { call: () => ({ ...this.#call, signal, principal: this.#principal }), signal };
    for await (const content of source.contents(reader)) {
      if (signal.aborted) return;
      await this.#slots.put(id, updateOf(id, content));
    }
  }

  #end(id: number): void {
    this.#running.get(id)?.over.abort(new PlatformError('canceled', 'the subscription was removed'));
    this.#running.delete(id);
    this.#slots.drop(id);
  }

  #refuse(id: number, caught: unknown): void {
    this.#end(id);
    const { code, message } = this.#report(caught);
    void this.#slots.put(id, updateOf(id, { case: 'ended', value: { code: codes[code], message } }));
  }
}

function updateOf(id: number, content: Content): Update {
  return create(UpdateSchema, { id, content });
}
