/** The cloud's rules for repeated uploads (I5, I6) in memory, and the reported gaps. */
import { createHash } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import {
  type RawDataCaptureUploadRequest,
  SensorDataSchema,
  UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { Gap, ReportGapsRequest } from '@platform/proto/platform/gaps/v1/gaps';
import type { Link } from '@platform/rpc/client';
import type { LedgerReading } from '@platform/testkit';

export interface MemoryUpload {
  /** Stream and seq. */
  readonly key: string;
  readonly stream: string;
  readonly seq: number;
  readonly floor: number;
  readonly hash: string;
  readonly readings: readonly LedgerReading[];
}

/** The cloud's record of a gap. */
export type MemoryGap = Pick<Gap, 'id' | 'componentName' | 'reason'> & {
  readonly startUs: number;
  readonly endUs: number;
  readonly readings: number;
};

export class MemoryCloud {
  readonly stored: Map<string, MemoryUpload> = new Map();
  readonly gaps: Map<string, MemoryGap> = new Map();
  readonly breaches: string[] = [];
  readonly #marks = new Map<string, number>();

  accept(upload: MemoryUpload): void {
    const { key, stream, seq, floor, hash } = upload;
    const before = this.stored.get(key);
    const mark = Math.max(floor, this.#marks.get(stream) ?? 0);
    this.#marks.set(stream, mark);
    if (before !== undefined && before.hash !== hash) this.breaches.push(`${key} came twice with different content`);
    else if (before === undefined && seq < mark) this.breaches.push(`${key} is below the low-water mark ${mark}`);
    else if (before === undefined) this.stored.set(key, upload);
  }

  tell(gap: MemoryGap): void {
    const before = this.gaps.get(gap.id);
    if (before === undefined || before.readings <= gap.readings) this.gaps.set(gap.id, gap);
  }

  readings(): LedgerReading[] {
    return [...this.stored.values()].flatMap(({ readings }) => readings);
  }
}

/** A link to a cloud that stores first, and then answers. */
export function memoryLink(accept: (upload: MemoryUpload) => void, tell: (gap: MemoryGap) => void): Link {
  const client = {
    async dataCaptureUpload(request: RawDataCaptureUploadRequest): Promise<object> {
      accept(uploadOf(request));
      return {};
    },
    async reportGaps({ gaps }: ReportGapsRequest): Promise<object> {
      for (const { id, componentName, reason, start, end, readings } of gaps)
        tell({ id, componentName, reason, startUs: usOf(start), endUs: usOf(end), readings: Number(readings) });
      return {};
    },
  };
  const link = { client: () => client, withHeaders: () => link, async [Symbol.asyncDispose]() {} } as unknown as Link;
  return link;
}

function uploadOf({ metadata, sensorContents }: RawDataCaptureUploadRequest): MemoryUpload {
  const { identity } = fromBinary(UploadMetadataSchema, metadata);
  const stream = Buffer.from(identity?.stream ?? []).toString('hex');
  const seq = Number(identity?.seq);
  const hash = createHash('sha256');
  for (const content of sensorContents) hash.update(content);
  return {
    ...{ key: `${stream} ${seq}`, stream, seq, floor: Number(identity?.floor), hash: hash.digest('hex') },
    readings: sensorContents.map(readingOf),
  };
}

function readingOf(content: Uint8Array): LedgerReading {
  const { data } = fromBinary(SensorDataSchema, content);
  const { machine, component, seq, hash } = (data.case === 'struct' ? data.value : {}) as Record<string, unknown>;
  return { machine: String(machine), component: String(component), seq: Number(seq), hash: String(hash) };
}

function usOf(time: Gap['start']): number {
  return time === undefined ? Number.NaN : Number(time.seconds) * 1e6 + Math.floor(time.nanos / 1_000);
}
