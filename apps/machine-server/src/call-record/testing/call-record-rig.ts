/** For tests: a record of calls on real files, with a disk and a cloud that misbehave on request. */

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DescService } from '@bufbuild/protobuf';
import { createLog, PlatformError } from '@platform/base';
import type { ReportCallsRequest, ReportedCalls } from '@platform/proto/platform/relay/v1/relay';
import type { Client, Link } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { CallRecord, type CallRecordDeps } from '../call-record.ts';
import { type JournalDisk, openJournalDisk, type SegmentFile } from '../journal-disk.ts';
import type { DirectCall } from '../recorded-calls.ts';

/** Like a real one, it recognises a record that it has by its id. */
export class FakeCallCloud {
  /** In the order in which they came; the first version of each counts. */
  readonly stored: Map<string, ReportedCalls> = new Map();
  /** Sizes of the calls, refused ones included. */
  readonly batches: number[] = [];
  repeated = 0;
  /** Runs before records are stored; may throw. */
  before: (calls: readonly ReportedCalls[]) => void = () => {};
  /** Runs afterwards; if it throws, the acknowledgement is lost. */
  after: () => void = () => {};

  readonly link: Pick<Link, 'client'> = {
    client: <S extends DescService>(_service: S) =>
      ({
        reportCalls: async ({ calls }: ReportCallsRequest): Promise<object> => {
          this.batches.push(calls.length);
          this.before(calls);
          for (const call of calls) {
            if (this.stored.has(call.id)) this.repeated++;
            else this.stored.set(call.id, call);
          }
          this.after();
          return {};
        },
      }) as unknown as Client<S>,
  };

  get records(): ReportedCalls[] {
    return [...this.stored.values()];
  }

  /** Calls in all records. */
  get count(): number {
    return this.records.reduce((sum, { count }) => sum + Number(count), 0);
  }

  get dropped(): number {
    return this.records.reduce((sum, { dropped }) => sum + Number(dropped), 0);
  }

  refuse(code: ConstructorParameters<typeof PlatformError>[0] | undefined): void {
    this.before = () => {
      if (code !== undefined) throw new PlatformError(code, 'no');
    };
  }
}

export type DiskOperation = 'open' | 'write' | 'sync' | 'remove';

/** Real files. `before` may throw or wait; `half` runs when half of an appended text is written, and `after` after each operation. */
export class FaultyDisk implements JournalDisk {
  readonly #disk: JournalDisk;
  before: (operation: DiskOperation) => void | Promise<void> = () => {};
  half: (() => void) | undefined;
  after: (operation: DiskOperation) => void = () => {};

  constructor(directory: string) {
    this.#disk = openJournalDisk(directory);
  }

  list(): Promise<number[]> {
    return this.#disk.list();
  }

  read(segment: number): Promise<Buffer> {
    return this.#disk.read(segment);
  }

  async open(segment: number, isNew: boolean): Promise<SegmentFile> {
    const file = await this.#run('open', () => this.#disk.open(segment, isNew));
    return {
      write: async (bytes, position) => {
        await this.before('write');
        // What is written in place never crosses a sector.
        const half = bytes.length < 64 ? 0 : Math.floor(bytes.length / 2);
        if (half > 0) {
          await file.write(bytes.subarray(0, half), position);
          this.half?.();
        }
        await file.write(bytes.subarray(half), position + half);
        this.after('write');
      },
      sync: () => this.#run('sync', () => file.sync()),
      close: () => file.close(),
    };
  }

  remove(segment: number): Promise<void> {
    return this.#run('remove', () => this.#disk.remove(segment));
  }

  async #run<T>(operation: DiskOperation, task: () => Promise<T>): Promise<T> {
    await this.before(operation);
    const answer = await task();
    this.after(operation);
    return answer;
  }
}

/** A clock on which calls wait for the disk as long as it takes, because it does not pass meanwhile. */
export class PatientClock extends FakeClock {
  override after(ms: number, run: () => void): Disposable {
    return ms === 100 ? { [Symbol.dispose]: () => {} } : super.after(ms, run);
  }
}

export interface Recorder extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly record: CallRecord;
  readonly disk: FaultyDisk;
  /** Of the log: level and message, without `debug`. */
  readonly lines: string[];
  /** A call of one caller; further fields replace those of a joystick. */
  call(more?: Partial<DirectCall>): Promise<void>;
}

/** Stopped by the test, which may also let go of it, as a kill does. */
export async function startRecorder(
  directory: string,
  cloud: FakeCallCloud,
  more: Partial<Pick<CallRecordDeps, 'limits' | 'redact'>> = {},
  clock: FakeClock = new PatientClock(),
): Promise<Recorder> {
  const disk = new FaultyDisk(directory);
  const lines: string[] = [];
  const log = createLog((level, _logger, message) => {
    if (level !== 'debug') lines.push(`${level} ${message}`);
  });
  const record = new CallRecord({
    ...{ disk, link: cloud.link, partId: 'p', redact: (text) => text, clock, log, ...more },
  });
  await record.start();
  const joystick: DirectCall = {
    ...{ caller: { caller: 'api-key:k', name: '', path: 'direct' }, peerAddress: '127.0.0.1:4711' },
    ...{ operation: 'MotorService.SetPower', resource: 'left', arguments: '{"power_pct":1}' },
  };
  return {
    ...{ clock, record, disk, lines },
    call: (given) => record.add({ ...joystick, ...given }),
    [Symbol.asyncDispose]: () => record[Symbol.asyncDispose](),
  };
}

/** Bytes of the files in a folder. */
export function bytesOf(path: string): number {
  return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
}
