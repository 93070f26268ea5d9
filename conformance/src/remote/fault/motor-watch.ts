/** Whether motors turn that should not: what the machine says about them, and when their drivers were last alive. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { connect, type Link } from '@platform/rpc/client';

export interface MotorWatchOptions {
  readonly motors: readonly string[];
  /** Where the machine-server listens; undefined while it does not. */
  readonly port: () => number | undefined;
  readonly credentials: { readonly entity: string; readonly payload: string };
}

export interface LateMotor {
  readonly motor: string;
  /** Unix time, ms. */
  readonly askedMs: number;
  /** Since its driver was last alive. */
  readonly lateMs: number;
}

const everyMs = 150;

export class MotorWatch implements AsyncDisposable {
  /** Times at which a driver was alive, by motor; ascending. */
  readonly #alive = new Map<string, number[]>();
  /** It turned at some time from `askedMs` to `answeredMs`. */
  readonly #turning: { readonly motor: string; readonly askedMs: number; readonly answeredMs: number }[] = [];
  readonly #options: MotorWatchOptions;
  readonly #watching: Promise<void>;
  #isOver = false;
  #link: { readonly port: number; readonly link: Link } | undefined;
  /** How often the machine was asked about a motor, and answered. */
  answers = 0;

  constructor(options: MotorWatchOptions) {
    this.#options = options;
    this.#watching = this.#watch();
  }

  alive(motor: string, atMs: number): void {
    const times = this.#alive.get(motor) ?? [];
    this.#alive.set(motor, times);
    times.push(atMs);
  }

  get turned(): number {
    return this.#turning.length;
  }

  /** Motors that turned longer than this after their driver was last alive, and how long the longest turned on. */
  late(allowedMs: number): { readonly late: LateMotor[]; readonly longestMs: number } {
    const late: LateMotor[] = [];
    let longestMs = 0;
    for (const { motor, askedMs, answeredMs } of this.#turning) {
      const last = this.#alive.get(motor)?.findLast((atMs) => atMs <= answeredMs) ?? 0;
      const lateMs = askedMs - last;
      longestMs = Math.max(longestMs, lateMs);
      if (lateMs > allowedMs) late.push({ motor, askedMs, lateMs });
    }
    return { late, longestMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#watching;
    await this.#link?.link[Symbol.asyncDispose]();
  }

  async #watch(): Promise<void> {
    for (; !this.#isOver; await sleep(everyMs)) {
      const machine = await this.#machine();
      if (machine === undefined) continue;
      const askedMs = Date.now();
      await Promise.all(
        this.#options.motors.map(async (motor) => {
          const answer = await machine
            .client(MotorService)
            .isPowered({ name: motor })
            .catch(() => undefined);
          if (answer === undefined) return;
          this.answers++;
          if (answer.isOn) this.#turning.push({ motor, askedMs, answeredMs: Date.now() });
        }),
      );
    }
  }

  async #machine(): Promise<Link | undefined> {
    const port = this.#options.port();
    if (port === undefined) return undefined;
    if (this.#link?.port !== port) {
      await this.#link?.link[Symbol.asyncDispose]();
      const credentials = { ...this.#options.credentials, type: 'api-key' };
      this.#link = { port, link: connect({ baseUrl: `http://127.0.0.1:${port}`, credentials, timeoutMs: 2_000 }) };
    }
    return this.#link.link;
  }
}
