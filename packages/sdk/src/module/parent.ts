/**
 * The machine-server that started this module. States: unknown → (Ready gives its address) connected → gone.
 *
 * It is gone if it does not answer several times in a row: a module that outlived it would occupy hardware that the next one needs.
 */
import { asPlatformError, type Clock, failedPrecondition } from '@platform/base';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect, type Link } from '@platform/rpc/client';
import { parseAddress } from './address.ts';

const checkMs = 10_000;
const answerMs = 5_000;
const missesUntilGone = 3;

export class Parent implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #onGone: () => void;
  #address = '';
  #link: Link | undefined;
  #checks: Disposable | undefined;
  #misses = 0;

  constructor(clock: Clock, onGone: () => void) {
    this.#clock = clock;
    this.#onGone = onGone;
  }

  /** @throws failed_precondition before the machine-server has called Ready */
  get link(): Link {
    if (this.#link !== undefined) return this.#link;
    throw failedPrecondition('expected Ready with the address of the machine-server before this call');
  }

  /** @param address from Ready. @throws invalid_argument */
  async connect(address: string): Promise<Link> {
    if (this.#link !== undefined && address === this.#address) return this.#link;
    const at = parseAddress(address);
    const old = this.#link;
    this.#link = connect({
      baseUrl: at.kind === 'port' ? `http://${at.host}:${at.port}` : 'http://localhost',
      ...(at.kind === 'socket' && { socketPath: at.path }),
      peerName: 'the machine-server',
      isLocal: true,
      // Public machine-servers accept only these names; ours accepts both.
      vocabulary: 'rdk',
      userAgent: 'platform-module',
      clock: this.#clock,
    });
    this.#address = address;
    this.#misses = 0;
    this.#checks ??= this.#clock.every(checkMs, () => void this.#check());
    await old?.[Symbol.asyncDispose]();
    return this.#link;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#checks?.[Symbol.dispose]();
    await this.#link?.[Symbol.asyncDispose]();
  }

  async #check(): Promise<void> {
    try {
      await this.link.client(RobotService).resourceNames({}, { timeoutMs: answerMs });
      this.#misses = 0;
    } catch (caught) {
      const { code } = asPlatformError(caught);
      // Any other answer shows that it is running.
      this.#misses = code === 'unavailable' || code === 'deadline_exceeded' ? this.#misses + 1 : 0;
      if (this.#misses >= missesUntilGone) this.#onGone();
    }
  }
}
