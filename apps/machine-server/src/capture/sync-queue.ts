/**
 * Syncs and seals the files of one series one after the other, while readings are written to the open file and the next one.
 *
 * States of a task: waiting → begun → done. After a failure of the disk, all tasks wait again, in the same order, until a retry succeeds.
 */
import type { Clock } from '@platform/base';
import type { CaptureFileWriter } from '@platform/capture-file';
import { DiskStep } from './disk-step.ts';

export interface SyncQueueDeps {
  readonly failed: (caught: unknown, failures: number) => void;
  readonly recovered: (failures: number) => void;
  /** A task is done. */
  readonly done: () => void;
  readonly clock: Clock;
}

interface Task {
  readonly writer: CaptureFileWriter;
  readonly isSeal: boolean;
  isBegun: boolean;
  told: ((isDone: boolean) => void)[];
}

export class SyncQueue {
  readonly #deps: SyncQueueDeps;
  readonly #tasks: Task[] = [];
  readonly #step: DiskStep;

  constructor(deps: SyncQueueDeps) {
    this.#deps = deps;
    const { failed, recovered, clock } = deps;
    this.#step = new DiskStep({
      ...{ step: () => this.#run(), hasMore: () => this.#tasks.length > 0, recovered, clock },
      failed: (caught, failures) => {
        for (const task of this.#tasks) tell(task, false);
        failed(caught, failures);
      },
    });
  }

  get failures(): number {
    return this.#step.failures;
  }

  /** Number of files that are to be sealed and are not yet. */
  get sealing(): number {
    return this.#tasks.filter(({ isSeal }) => isSeal).length;
  }

  /** Syncs what was written to the open file so far. Returns whether that is done: false after one failure of the disk. */
  sync(writer: CaptureFileWriter): Promise<boolean> {
    const last = this.#tasks.at(-1);
    const isAsked = last !== undefined && last.writer === writer && !last.isBegun;
    if (!isAsked) this.#tasks.push({ writer, isSeal: false, isBegun: false, told: [] });
    return this.settled();
  }

  /** Seals a file that receives no more writes. */
  seal(writer: CaptureFileWriter): void {
    this.#tasks.push({ writer, isSeal: true, isBegun: false, told: [] });
    void this.#step.run();
  }

  /** Resolves when all tasks so far are done; false after one failure of the disk. */
  async settled(): Promise<boolean> {
    const last = this.#tasks.at(-1);
    if (last === undefined) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    last.told.push(resolve);
    void this.#step.run();
    return promise;
  }

  /** Stops automatic retries after a failure. */
  end(): void {
    this.#step.end();
  }

  /** Closes the files that could not be sealed, as they are. */
  async abandon(): Promise<void> {
    await Promise.all(this.#tasks.map(({ writer }) => writer.abandon().catch(() => {})));
  }

  async #run(): Promise<void> {
    for (const task of this.#tasks) task.isBegun = false;
    for (let task = this.#tasks[0]; task !== undefined; task = this.#tasks[0]) {
      task.isBegun = true;
      await (task.isSeal ? task.writer.seal() : task.writer.sync());
      this.#tasks.shift();
      tell(task, true);
      this.#deps.done();
    }
  }
}

function tell(task: Task, isDone: boolean): void {
  const { told } = task;
  task.told = [];
  for (const each of told) each(isDone);
}
