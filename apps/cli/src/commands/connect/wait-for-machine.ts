/** Waits until a machine that is being connected has sent its first reading, and reports each step. */
import { type Cloud, type JsonObject, PlatformError, systemClock, timestampMs } from '@platform/sdk/cloud';
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
  readonly said: string;
  readonly hint: string;
  isDone(): Promise<boolean>;
}

const lookEveryMs = 400;

/** @returns milliseconds until each step was seen, by its name. @throws deadline_exceeded with the missing step */
export async function waitForMachine(context: Context, cloud: Cloud, waited: Waited): Promise<JsonObject> {
  const { out, signal } = context;
  const startMs = systemClock.now();
  const seen: JsonObject = {};
  for (const step of stepsOf(cloud, waited, startMs)) {
    while (!(await step.isDone())) {
      // A fetched machine-server may take some time to start.
      if (systemClock.now() > waited.expiresMs)
        throw new PlatformError(
          'deadline_exceeded',
          `expected the machine to be ${step.name} within 15 minutes, found it is not: ${step.hint}`,
        );
      await systemClock.sleep(lookEveryMs, signal);
    }
    const ms = systemClock.now() - startMs;
    seen[`${step.name.replaceAll(' ', '_')}_ms`] = ms;
    out.note(`${(ms / 1_000).toFixed(1).padStart(6)} s  ${step.said}`);
  }
  return seen;
}

function stepsOf(cloud: Cloud, waited: Waited, startMs: number): Step[] {
  const { partId, organizationId, token } = waited;
  const state = async (): Promise<JsonObject> => (await cloud.getJson(`/connect/${token}/state`)) as JsonObject;
  const status = () => cloud.fleet.getPartStatus({ partId });
  const steps: Step[] = [
    {
      name: 'fetched',
      said: 'fetched the machine-server',
      hint: 'run the printed line on the other computer; "platform machines connect" prints a new one',
      isDone: async () => (await state())['fetched_at'] !== null,
    },
    {
      name: 'started',
      said: 'started: the machine is online',
      hint: 'read what the line printed on the other computer, and the log that it names',
      async isDone() {
        const { lastAccess } = await status();
        return lastAccess !== undefined && timestampMs(lastAccess) >= startMs;
      },
    },
    {
      name: 'configured',
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
    said: 'first reading: "platform query" finds it',
    hint: '"platform logs" shows what the machine says about capture and sync',
    isDone: async () => (await cloud.queryMql(organizationId, [{ $match: received }, { $limit: 1 }])).length > 0,
  });
  return steps;
}
