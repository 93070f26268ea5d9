/** Full-time diagnostics (`-ftdc`): a sample each second, written every 10 s and at the stop. */
import { type Clock, errorText, harmless, type Log } from '@platform/base';
import { FtdcEncoder, type Sample } from '@platform/ftdc';
import { FtdcFiles } from './ftdc-files.ts';

export interface RecorderDeps {
  readonly directory: string;
  /** Takes a sample. Should take well under a millisecond. One that throws is left out. */
  readonly sample: () => Omit<Sample, 'timeMs'>;
  readonly clock: Clock;
  readonly log: Log;
}

const sampleEveryMs = 1_000;
const samplesPerWrite = 10;

export class Recorder implements AsyncDisposable {
  readonly #deps: RecorderDeps;
  readonly #files: FtdcFiles;
  readonly #encoder = new FtdcEncoder();
  #samples: Sample[] = [];
  #timer: Disposable | undefined;
  #writing: Promise<void> = Promise.resolve();
  #failed = false;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#files = new FtdcFiles(deps.directory);
  }

  start(): void {
    const { clock, sample, log } = this.#deps;
    const take = (): void => {
      this.#samples.push({ timeMs: clock.now(), ...sample() });
      if (this.#samples.length >= samplesPerWrite) this.#flush();
    };
    const failed = (caught: unknown): void =>
      log.warn('full-time diagnostics lack samples', { error: errorText(caught) });
    this.#timer = clock.every(sampleEveryMs, harmless(take, failed));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#flush();
    await this.#writing;
  }

  #flush(): void {
    const samples = this.#samples;
    this.#samples = [];
    if (samples.length > 0) this.#writing = this.#writing.then(() => this.#write(samples));
  }

  /** If the disk refuses them, the samples are lost and the server continues; the log reports it once. */
  async #write(samples: readonly Sample[]): Promise<void> {
    const { directory, clock, log } = this.#deps;
    try {
      if (this.#files.isFull) await this.#files.begin(clock.now(), this.#encoder.header());
      await this.#files.append(this.#encoder.blocks(samples));
      if (this.#failed) log.info('full-time diagnostics are recorded again');
      this.#failed = false;
    } catch (caught) {
      if (!this.#failed) log.warn('full-time diagnostics cannot be written', { directory, error: errorText(caught) });
      this.#failed = true;
    }
  }
}
