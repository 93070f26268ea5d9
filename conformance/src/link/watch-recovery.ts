/** How long a machine-server takes, once its network is whole, until the next upload, the next poll, and calls through the cloud. */
import { asPlatformError, type CodeName } from '@platform/base';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import type { Link } from '@platform/rpc/client';
import { pauseMs } from '../crash/cloud-under-load.ts';
import type { LedgerWorld } from '../ledger/ledger-world.ts';

const lookMs = 100;
/** Codes of calls that did not reach the machine. */
const lost: ReadonlySet<CodeName> = new Set(['unavailable', 'deadline_exceeded']);
const callTimeoutMs = 5_000;
/** Whoever cannot be reached for this long is given up. */
const givenUpMs = 120_000;

export interface Recovery {
  /** Ms until the cloud acknowledged an upload. */
  readonly uploadMs: number;
  /** Ms until the cloud answered a poll for the configuration. */
  readonly pollMs: number;
  /** Ms until all resources answered calls through the cloud. */
  readonly relayMs: number;
  /** Resources that did not. */
  readonly unreachable: readonly string[];
}

/** @param owner calls the cloud directly */
export async function watchRecovery(world: LedgerWorld, owner: Link, resources: readonly string[]): Promise<Recovery> {
  const wholeMs = performance.now();
  const sinceWhole = (): number => Math.round(performance.now() - wholeMs);
  const relayed = resources.map((name) => reach(world, owner, name, sinceWhole));
  const [uploadMs, pollMs, reached] = await Promise.all([
    nextUpload(world, sinceWhole),
    nextPoll(world, sinceWhole),
    Promise.all(relayed),
  ]);
  return {
    ...{ uploadMs, pollMs },
    relayMs: Math.max(...reached.map(({ ms }) => ms)),
    unreachable: reached.flatMap(({ name, isReached }) => (isReached ? [] : [name])),
  };
}

/** A capture file is deleted once it is acknowledged. */
async function nextUpload(world: LedgerWorld, sinceWhole: () => number): Promise<number> {
  const seen = new Set<string>();
  while (sinceWhole() < givenUpMs) {
    const sealed = new Set(world.waiting().filter((name) => name.endsWith('.capture')));
    if ([...seen].some((name) => !sealed.has(name))) break;
    for (const name of sealed) seen.add(name);
    await pauseMs(lookMs);
  }
  return sinceWhole();
}

async function nextPoll({ cloud }: LedgerWorld, sinceWhole: () => number): Promise<number> {
  const first = await answeredPolls(cloud.url);
  while (sinceWhole() < givenUpMs && (await answeredPolls(cloud.url)) === first) await pauseMs(lookMs);
  return sinceWhole();
}

async function answeredPolls(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sample = 'platform_call_seconds_count{method="/platform.app.v1.RobotService/Config",code="ok"} ';
  const line = text.split('\n').find((each) => each.startsWith(sample));
  return Number(line?.slice(sample.length) ?? 0);
}

async function reach(
  { cloud }: LedgerWorld,
  owner: Link,
  name: string,
  sinceWhole: () => number,
): Promise<{ readonly name: string; readonly ms: number; readonly isReached: boolean }> {
  const headers = { 'platform-part': cloud.demo.partId };
  const sensor = owner.client(SensorService);
  for (;;) {
    // The resource refuses it. Reading it would produce a reading that is not captured.
    const isReached = await sensor.doCommand({ name, command: {} }, { headers, timeoutMs: callTimeoutMs }).then(
      () => true,
      (caught: unknown) => !lost.has(asPlatformError(caught).code),
    );
    if (isReached || sinceWhole() > givenUpMs) return { name, ms: sinceWhole(), isReached };
    await pauseMs(lookMs);
  }
}
