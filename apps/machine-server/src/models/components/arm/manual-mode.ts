/** The manual mode of a fake arm, in which only a person moves it. */
import { type Clock, failedPrecondition, invalidValue } from '@platform/base';

export class ManualMode {
  readonly #clock: Clock;
  /** Of the monotonic clock; undefined outside the mode. */
  #untilMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOn(): boolean {
    return this.#untilMs !== undefined && this.#clock.monotonic() < this.#untilMs;
  }

  /** @param seconds after which the mode ends; 0: it lasts until `exit` */
  enter(seconds: number): void {
    if (seconds < 0) throw invalidValue('enabled_for', 'at least 0 seconds', seconds);
    this.#untilMs = seconds === 0 ? Number.POSITIVE_INFINITY : this.#clock.monotonic() + seconds * 1_000;
  }

  exit(): void {
    this.#untilMs = undefined;
  }

  /** @throws failed_precondition */
  requireOff(): void {
    if (this.isOn)
      throw failedPrecondition(
        'the arm is in manual mode: end it with SetManualMode before you move the arm by program',
      );
  }
}
