/** Waits until a machine that is being connected has sent its first reading, and reports each step. */
import { deadlineExceeded } from '@platform/base/refusals';
import { type Cloud, type JsonObject, systemClock, timestampMs } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';

export interface Waited {
  readonly partId: string;
  readonly organizationId: string;
  readonly token: string;
  /** Wall clock, ms. */
  readonly expiresMs: number;
  /** False: nothing is captured, so no reading will come. */
  readonly captures: boolean;
}

interface Step {
  readonly name: string;
  /** What the machine has to do, after "waiting until the machine". */
  readonly awaited: string;
  readonly said: string;
  readonly hint: string;
  isDone(): Promise<boolean>;
}

const lookEveryMs = 400;

/** What `GET /connect/<token>/state` answers. */
interface LineState {
  readonly fetch_count: number;
  readonly fetches: readonly { readonly at: string; readonly address: string }[];
  readonly fetched_at: string | null;
  readonly used_from: string | null;
}

/** @returns milliseconds until each step was seen, by its name, and from where the line was fetched. @throws deadline_exceeded with the missing step */
export async function waitForMachine(context: Context, cloud: Cloud, waited: Waited): Promise<JsonObject> {
  const { out, signal } = context;
  const startMs = systemClock.now();
  const seen: JsonObject = {};
  let told = 0;
  let line: LineState | undefined;
  const look = async (): Promise<LineState> => {
    line = (await cloud.getJson(`/connect/${waited.token}/state`)) as unknown as LineState;
    for (; told < line.fetch_count; told++) {
      const { address } = line.fetches[told] ?? line.fetches.at(-1) ?? { address: 'an unknown address' };
      if (told === 0) out.note(`          the line was fetched from ${address}`);
      else out.warn(`the line was fetched again, from ${address} (${told + 1} times in all). The last one counts`);
    }
    return line;
  };
  for (const step of stepsOf(cloud, waited, look, startMs)) {
    context.progress.says(`waiting until the machine ${step.awaited}`);
    while (!(await step.isDone())) {
      // A fetched machine-server may take some time to start.
      if (systemClock.now() > waited.expiresMs)
        throw deadlineExceeded(
          `expected the machine to be ${step.name} within 15 minutes, found it is not: ${step.hint}`,
        );
      await systemClock.sleep(lookEveryMs, signal);
    }
    const ms = systemClock.now() - startMs;
    seen[`${step.name.replaceAll(' ', '_')}_ms`] = ms;
    out.note(`${(ms / 1_000).toFixed(1).padStart(6)} s  ${step.said}`);
  }
  const { fetches = [], used_from: usedFrom = null } = line ?? {};
  return { ...seen, fetches: fetches.map((each) => ({ ...each })), used_from: usedFrom };
}

function stepsOf(cloud: Cloud, waited: Waited, look: () => Promise<LineState>, startMs: number): Step[] {
  const { partId, organizationId } = waited;
  const status = () => cloud.fleet.getPartStatus({ partId });
  const steps: Step[] = [
    {
      name: 'fetched',
      awaited: 'fetches the machine-server',
      said: 'fetched the machine-server',
      hint: 'run the printed line on the other computer; "platform machines connect" prints a new one',
      isDone: async () => (await look()).fetched_at !== null,
    },
    {
      name: 'started',
      awaited: 'starts and is online',
      said: 'started: the machine is online',
      hint: 'read what the line printed on the other computer, and the log that it names',
      async isDone() {
        await look();
        const { lastAccess } = await status();
        return lastAccess !== undefined && timestampMs(lastAccess) >= startMs;
      },
    },
    {
      name: 'configured',
      awaited: 'runs the saved configuration',
      said: 'configured: it runs the saved configuration',
      hint: '"platform machines part status" shows what it runs, and its last error',
      async isDone() {
        const { saved, applied } = await status();
        return applied !== undefined && applied.revision === saved?.revision;
      },
    },
  ];
  if (!waited.captures) return steps;
  const received = { part_id: partId, time_received: { $gte: new Date(startMs) } };
  steps.push({
    name: 'first reading',
    awaited: 'sends its first reading',
    said: 'first reading: "platform query" finds it',
    hint: '"platform logs" shows what the machine says about capture and sync',
    isDone: async () => (await cloud.queryMql(organizationId, [{ $match: received }, { $limit: 1 }])).length > 0,
  });
  return steps;
}
