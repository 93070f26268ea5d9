/** The parts of a process, disposed in reverse order. Reports which of them a stop is waiting for. */
import type { Clock } from '@platform/base';

export class Parts implements AsyncDisposable {
  #stack = new AsyncDisposableStack();
  /** Shared with the object that the parts are moved to. */
  #at: { stopping?: { readonly name: string; readonly part: object } | undefined } = {};

  /** Disposes the part with the others. */
  use<P extends AsyncDisposable | Disposable>(name: string, part: P): P {
    const at = this.#at;
    this.#stack.defer(async () => {
      at.stopping = { name, part };
      if (Symbol.asyncDispose in part) await part[Symbol.asyncDispose]();
      else part[Symbol.dispose]();
    });
    return part;
  }

  /** Name of the part that is being disposed, such as "data plane: tabular store"; undefined: none. */
  get stopping(): string | undefined {
    if (this.#at.stopping === undefined) return undefined;
    const { name, part } = this.#at.stopping;
    const inner = 'stopping' in part && typeof part.stopping === 'string' ? `: ${part.stopping}` : '';
    return `${name}${inner}`;
  }

  /** Hands all parts over; disposing this object then does nothing. */
  move(): Parts {
    const moved = new Parts();
    moved.#stack = this.#stack.move();
    moved.#at = this.#at;
    return moved;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    this.#at.stopping = undefined;
  }
}

/** Forces the end of a stop that takes longer than `ms`, with a text that names the part. */
export function endLateStop(options: {
  readonly ms: number;
  readonly stopping: () => string | undefined;
  readonly end: (text: string) => void;
  readonly clock: Clock;
}): Disposable {
  const { ms, stopping, end, clock } = options;
  return clock.after(ms, () =>
    end(
      `expected to stop within ${ms / 1_000} s, still waiting for ${stopping() ?? 'the end of the process'}; ending now. Everything acknowledged is stored, and the next start continues from there. Please report this message`,
    ),
  );
}
