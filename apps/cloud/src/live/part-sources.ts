/** Sources of one part: its status, its newest readings, its log. */
import { create, toBinary } from '@bufbuild/protobuf';
import type { Clock } from '@platform/base';
import { type GetPartStatusResponse, GetPartStatusResponseSchema } from '@platform/proto/platform/fleet/v1/fleet';
import type { Access } from '../access/authorize.ts';
import type { StatusOf } from '../machines/fleet-rpc.ts';
import { createLogFilter } from '../machines/logs/filter.ts';
import { entryOf, type Line } from '../machines/logs/line.ts';
import type { MachineLogs } from '../machines/logs/logs.ts';
import { firstLogLines, recheckMs, statusEveryMs } from './limits.ts';
import type { NewestReadings } from './newest-readings.ts';
import type { Source } from './source.ts';

export interface PartSourceDeps {
  readonly access: Pick<Access, 'authorize'>;
  readonly logs: Pick<MachineLogs, 'read' | 'tail'>;
  readonly readings: NewestReadings;
  /** The answer of GetPartStatus. */
  readonly statusOf: StatusOf;
  readonly clock: Clock;
}

/** @param contents of the source, which is already authorized */
function ofPart({ access }: PartSourceDeps, partId: string, contents: Source['contents']): Source {
  return { authorize: (principal) => void access.authorize(principal, 'part.read', partId), contents };
}

export function statusSource(deps: PartSourceDeps, partId: string): Source {
  return ofPart(deps, partId, async function* ({ call, signal }) {
    let last: Uint8Array | undefined;
    for (;;) {
      const value: GetPartStatusResponse = create(GetPartStatusResponseSchema, await deps.statusOf(partId, call()));
      const bytes = toBinary(GetPartStatusResponseSchema, value);
      if (last === undefined || Buffer.compare(bytes, last) !== 0) yield { case: 'status', value };
      last = bytes;
      await deps.clock.sleep(statusEveryMs, signal);
    }
  });
}

export function readingsSource(deps: PartSourceDeps, partId: string): Source {
  return ofPart(deps, partId, async function* ({ signal }) {
    using follower = deps.readings.follow(partId);
    const first = await deps.readings.firstOf(partId);
    yield { case: 'readings', value: { readings: [...first.values()] } };
    for (;;) yield { case: 'readings', value: { readings: await follower.take(signal) } };
  });
}

export function logSource(deps: PartSourceDeps, partId: string): Source {
  return ofPart(deps, partId, async function* ({ signal }) {
    const matches = createLogFilter({});
    using tail = deps.logs.tail(partId, matches);
    const { entries } = await deps.logs.read({ partId, matches, limit: firstLogLines, signal, oldestFirst: false });
    yield { case: 'logs', value: { whole: true, lines: entries.toReversed() } };
    // Lines that were stored while the page was read are in both.
    const read = new Set(entries.map(keyOf));
    for (let lines = await tail.next(0, signal); lines.length > 0; lines = await tail.next(0, signal)) {
      const others = lines.map(entryOf).filter((entry) => !read.has(keyOf(entry)));
      if (others.length > 0) yield { case: 'logs', value: { whole: false, lines: others } };
    }
    for (;;) {
      const lines: readonly Line[] = await tail.next(recheckMs, signal);
      if (lines.length > 0) yield { case: 'logs', value: { whole: false, lines: lines.map(entryOf) } };
    }
  });
}

function keyOf({ time, level, loggerName, message }: ReturnType<typeof entryOf>): string {
  return `${time?.seconds}.${time?.nanos} ${level} ${loggerName} ${message}`;
}
