/** An axis that moves on the clock: the state of fake motors, servos, gantries and arms. */
import { aborted, type Clock } from '@platform/base';

interface Travel {
  readonly target: number;
  /** Ends the wait of its caller. */
  readonly end: (outcome: 'arrived' | 'stopped') => void;
}

/** Positions in any unit, velocities in that unit per second. */
export class Axis {
  readonly #clock: Clock;
  #start: number;
  #startMs: number;
  #velocity = 0;
  #travel: Travel | undefined;

  constructor(clock: Clock, position = 0) {
    this.#clock = clock;
    this.#start = position;
    this.#startMs = clock.monotonic();
  }

  get position(): number {
    const reached = this.#start + this.#velocity * ((this.#clock.monotonic() - this.#startMs) / 1_000);
    const target = this.#travel?.target;
    if (target === undefined) return reached;
    return this.#velocity < 0 ? Math.max(target, reached) : Math.min(target, reached);
  }

  get velocity(): number {
    return this.#velocity;
  }

  get isMoving(): boolean {
    return this.#velocity !== 0;
  }

  /** Declares the present position to be this one. A motion continues. */
  calibrate(position: number): void {
    this.#start += position - this.position;
  }

  /** Moves without end at this velocity; 0 stops. */
  run(velocity: number): void {
    this.#set(this.position, velocity);
  }

  stop(): void {
    this.run(0);
  }

  /**
   * Moves to the target at this speed and resolves when it has arrived; a speed of 0, or an infinite one, takes no time.
   *
   * @throws aborted when it is stopped or moved elsewhere before that; the signal's reason, after stopping
   */
  async moveTo(target: number, speed: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const distance = target - this.position;
    if (speed === 0 || speed === Number.POSITIVE_INFINITY || distance === 0) return this.#set(target, 0);
    this.#set(this.position, Math.sign(distance) * Math.abs(speed));
    const { promise, resolve } = Promise.withResolvers<'arrived' | 'stopped'>();
    this.#travel = { target, end: resolve };
    const stop = (): void => this.stop();
    signal.addEventListener('abort', stop, { once: true });
    using _arrival = this.#clock.after((Math.abs(distance) / Math.abs(speed)) * 1_000, () => resolve('arrived'));
    const outcome = await promise;
    signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
    if (outcome === 'stopped') throw aborted('the motion was stopped before it ended');
    this.#set(target, 0);
  }

  #set(position: number, velocity: number): void {
    const before = this.#travel;
    this.#travel = undefined;
    this.#start = position;
    this.#startMs = this.#clock.monotonic();
    this.#velocity = velocity;
    before?.end('stopped');
  }
}

/** Moves all of them at once, and waits for all, even after one has failed. @param move starts the motion of an axis */
export async function moveAll(axes: readonly Axis[], move: (axis: Axis, at: number) => Promise<void>): Promise<void> {
  const failed = (await Promise.allSettled(axes.map(move))).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** The methods of a resource that moves these axes. */
export function motionOf(axes: readonly Axis[]): {
  stop(): Promise<void>;
  isMoving(): Promise<{ isMoving: boolean }>;
  close(): Promise<void>;
} {
  const stop = async (): Promise<void> => {
    for (const axis of axes) axis.stop();
  };
  return { stop, isMoving: async () => ({ isMoving: axes.some((axis) => axis.isMoving) }), close: stop };
}
