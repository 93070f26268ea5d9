/**
 * Machine-servers that use one part at the same time. Each run of a server identifies itself in its calls (user agent
 * `platform-machine-server/VERSION (HOST; pid 4711; ID)`). A restart is one run after another; if an earlier run calls again after a later
 * one has called, both are alive. In memory: a restarted cloud notices it again at the next calls.
 */
import type { Clock } from '@platform/base';

/** Runs silent for this long are forgotten. */
const windowMs = 60_000;
/** Per part; those silent for longest are forgotten first. */
const maxRuns = 8;

export interface CompetingServers {
  /** The part called with this user agent. */
  saw(partId: string, userAgent: string): void;
  /** `HOST (pid 4711)` of each run; empty: at most one is in contact. */
  of(partId: string): readonly string[];
}

interface Run {
  readonly label: string;
  /** Order of its first call among those of all runs. */
  readonly number: number;
  lastMs: number;
}

interface Part {
  /** By id. */
  readonly runs: Map<string, Run>;
  competingMs: number;
  /** Ids of the runs that were reported; empty: none. */
  told: string;
}

const agent = /^platform-machine-server\/\S+ \(([\w.-]{1,64}); pid (\d{1,10}); ([\w-]{1,40})\)$/;

/** @param onCompeting called once for each set of competing runs */
export function createCompetingServers(
  clock: Pick<Clock, 'monotonic'>,
  onCompeting: (partId: string, servers: readonly string[]) => void,
): CompetingServers {
  const parts = new Map<string, Part>();
  let count = 0;
  const labels = ({ runs }: Part): string[] =>
    [...runs.values()].map(({ label }) => label).toSorted((a, b) => a.localeCompare(b));
  const forget = ({ runs }: Part): void => {
    for (const [id, { lastMs }] of runs) if (clock.monotonic() - lastMs >= windowMs) runs.delete(id);
  };
  return {
    saw(partId, userAgent) {
      const [, host, pid, id = ''] = agent.exec(userAgent) ?? [];
      if (id === '') return;
      const part = parts.get(partId) ?? { runs: new Map(), competingMs: Number.NEGATIVE_INFINITY, told: '' };
      parts.set(partId, part);
      const run = part.runs.get(id) ?? { label: `${host} (pid ${pid})`, number: ++count, lastMs: 0 };
      run.lastMs = clock.monotonic();
      // In the order of their last calls.
      part.runs.delete(id);
      part.runs.set(id, run);
      const [oldest = ''] = part.runs.keys();
      if (part.runs.size > maxRuns) part.runs.delete(oldest);
      if (part.runs.size === 1) return;
      forget(part);
      if (![...part.runs.values()].some(({ number }) => number > run.number)) return;
      part.competingMs = run.lastMs;
      const ids = [...part.runs.keys()].toSorted((a, b) => a.localeCompare(b)).join(' ');
      if (part.told === ids) return;
      part.told = ids;
      onCompeting(partId, labels(part));
    },
    of(partId) {
      const part = parts.get(partId);
      if (part === undefined || clock.monotonic() - part.competingMs >= windowMs) return [];
      forget(part);
      return part.runs.size > 1 ? labels(part) : [];
    },
  };
}
