/**
 * kill -9 of the cloud at random moments while triggers fire: the notifications are exactly the events that an oracle computes from the
 * ledger of acknowledged data (readings, log lines, contact), each delivered at least once, under one id; and a dry run over the same time
 * range reports the same events under the same ids.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { type DryRunSummary, TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { connect, type Link } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkOfOwner, pauseMs, seededRandom, uploadUntil } from './cloud-under-load.ts';
import { readFaultSettings } from './fault-settings.ts';
import { configuration, expected, isError, type Ledger, readingOf } from './trigger-oracle.ts';

const { triggerKills: kills, seed } = readFaultSettings();
/** A part is offline after a minute of silence, which the short run does not wait for. */
const waitsForOffline = kills >= 50;
const everyLineMs = 100;

interface Found {
  readonly id: string;
  readonly trigger_name: string;
  readonly event: string;
  readonly state: string;
  readonly accepted: number;
}

/** A row of the outbox. */
function messagesIn(directory: string): readonly Found[] {
  const store = new DatabaseSync(join(directory, 'meta.sqlite'), { readOnly: true });
  try {
    const statement = store.prepare(
      `select id, trigger_name, event, state, (select count(*) from outbox_attempts
         where message_id = id and outcome = 'accepted') as accepted from outbox_messages where trigger_name <> ''`,
    );
    return statement.all() as unknown as Found[];
  } finally {
    store.close();
  }
}

/** How often each trigger fired, according to the history. */
function historyIn(directory: string): Map<string, number> {
  const store = new DatabaseSync(join(directory, 'meta.sqlite'), { readOnly: true });
  try {
    const rows = store
      .prepare('select trigger_name, sum(count) as times from trigger_history group by trigger_name')
      .all();
    return new Map(rows.map((row) => [String(row['trigger_name']), Number(row['times'])]));
  } finally {
    store.close();
  }
}

/** Whether a trigger that is checked periodically has been checked for the first time. */
function hasBegun(directory: string, trigger: string): boolean {
  const store = new DatabaseSync(join(directory, 'meta.sqlite'), { readOnly: true });
  try {
    return store.prepare('select 1 from trigger_states where trigger_name = ?').get(trigger) !== undefined;
  } finally {
    store.close();
  }
}

/** The items that occur more often in `wanted` than in `found`. */
function missingIn(found: readonly string[], wanted: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const one of found) left.set(one, (left.get(one) ?? 0) + 1);
  return wanted.filter((one) => {
    const count = left.get(one) ?? 0;
    left.set(one, count - 1);
    return count <= 0;
  });
}

function eventsOf({ trigger_name: trigger, event }: Found): string[] {
  const { type, data, change, logs } = JSON.parse(event);
  if (trigger === 'lines') return logs.entries.map(({ message }: { message: string }) => `lines ${message}`);
  if (trigger === 'silent') return [`silent ${change.to}`];
  const n = data?.reading?.data?.readings?.n ?? type;
  return [change === undefined ? `${trigger} ${n}` : `${trigger} ${change.to} ${n}`];
}

/** Sends numbered lines until told to stop, and repeats each until it is acknowledged. @returns how often each was sent */
async function logUntil(link: Link, partId: string, stopped: () => boolean): Promise<Map<number, number>> {
  const lines = new Map<number, number>();
  for (let line = 1; !stopped(); line++) {
    const level = isError(line) ? 'error' : 'info';
    const entry = { host: 'h', level, time: timestampFromMs(Date.now()), loggerName: 'n', message: `line ${line}` };
    for (let sent = 1; ; sent++) {
      try {
        await link.client(RobotService).log({ id: partId, logs: [entry] });
        lines.set(line, sent);
        break;
      } catch {
        await pauseMs(20);
      }
    }
    await pauseMs(everyLineMs);
  }
  return lines;
}

/** One upload of the sensor `b`. */
async function uploadB(cloud: CloudUnderFire): Promise<void> {
  let asked = 0;
  await uploadUntil(cloud, 'b', () => asked++ > 0);
}

async function dryRun(link: Link, partId: string, sinceMs: number): Promise<Map<string, DryRunSummary>> {
  const request = { partId, start: timestampFromMs(sinceMs), maxOccurrences: 10_000 };
  const found = new Map<string, DryRunSummary>();
  for await (const { result } of link.client(TriggerService).dryRunTriggers(request, { timeoutMs: 0 }))
    if (result.case === 'summary') found.set(result.value.trigger, result.value);
  return found;
}

/** Removes repeated events of lines that were sent more than once. */
function eachOnce(events: readonly string[], { lines }: Ledger): string[] {
  const again = new Set([...lines].filter(([, sent]) => sent > 1).map(([line]) => `lines line ${line}`));
  return [...events.filter((one) => !again.has(one)), ...new Set(events.filter((one) => again.has(one)))].sort();
}

test(
  `I11 the cloud is killed ${kills} times while triggers fire: each event is notified once, under one id, none is missing, and a dry run agrees`,
  async () => {
    await using cloud = await CloudUnderFire.start();
    const { partId, partSecret } = cloud.demo;
    await using owner = linkOfOwner(cloud);
    const credentials = { entity: partId, type: 'robot-secret', payload: partSecret };
    await using machine = connect({ baseUrl: cloud.url, credentials });
    const beganMs = Date.now();
    const robotConfigJson = JSON.stringify(configuration(`${cloud.url}/test-inbox/webhooks/fault`, waitsForOffline));
    await owner.client(AppService).updateRobotPart({ id: partId, name: 'main', robotConfigJson });
    const told = (): string[] => messagesIn(cloud.directory).flatMap(eventsOf);
    const count = (event: string): number => told().filter((one) => one === event).length;
    const poll = { interval: 250 };
    // Lines logged before the first check of the trigger, up to a second after it was saved, do not concern it.
    await expect.poll(() => hasBegun(cloud.directory, 'lines'), poll).toBe(true);
    await uploadB(cloud);

    const random = seededRandom(seed);
    let over = false;
    const uploads = uploadUntil(cloud, 'a', () => over, readingOf);
    const logging = logUntil(machine, partId, () => over);
    for (let kill = 0; kill < kills; kill++) {
      await pauseMs(random(20, 900));
      await cloud.kill();
      await cloud.start();
    }
    await pauseMs(300);
    over = true;
    const [{ acknowledged }, lines] = await Promise.all([uploads, logging]);
    await expect.poll(() => count('silent firing'), poll).toBe(1);
    if (waitsForOffline) await expect.poll(() => count('offline part_offline'), poll).toBe(1);
    await uploadB(cloud);
    const silences = waitsForOffline ? 1 : 0;
    const ledger: Ledger = { acknowledged, lines, contacts: 1 + silences, silences, uploadsOfB: 2 };
    const wanted = expected(ledger);

    // A message that was being sent during a kill is sent again, and the last lines wait for the next check.
    await expect.poll(() => missingIn(eachOnce(told(), ledger), wanted), poll).toEqual([]);
    const waiting = (): number => messagesIn(cloud.directory).filter(({ state }) => state !== 'delivered').length;
    await expect.poll(waiting, poll).toBe(0);
    const messages = messagesIn(cloud.directory);
    expect(eachOnce(messages.flatMap(eventsOf), ledger)).toEqual(wanted);
    expect(messages.filter(({ accepted }) => accepted < 1)).toEqual([]);
    const ofTrigger = Map.groupBy(messages, ({ trigger_name: name }) => name);
    const times = new Map([...ofTrigger].map(([name, list]) => [name, list.length]));
    expect(historyIn(cloud.directory)).toEqual(times);

    const dry = await dryRun(owner, partId, beganMs);
    // Checks of the log and of silence are made at other times in a dry run (docs/specs/triggers.md).
    for (const name of ['every', 'some', 'alarm', 'held', 'online', ...(waitsForOffline ? ['offline'] : [])]) {
      const { fired, recovered, occurrences } = dry.get(name) as DryRunSummary;
      const live = new Set(ofTrigger.get(name)?.map(({ id }) => id));
      expect([name, Number(fired) + Number(recovered)]).toEqual([name, live.size]);
      const ids = occurrences.flatMap(({ notifications }) => notifications.map(({ deliveryId }) => deliveryId));
      expect(ids.filter((id) => !live.has(id))).toEqual([]);
      expect(new Set(ids).size).toBe(Math.min(live.size, 10_000));
    }
    expect(Number(dry.get('lines')?.fired)).toBeGreaterThan(0);
    const report = process.env['FAULT_REPORT'];
    if (report !== undefined)
      appendFileSync(
        report,
        `${JSON.stringify({ kills, acknowledged, lines: lines.size, expected: wanted.length, messages: messages.length })}\n`,
      );
  },
  240_000 + kills * 20_000,
);
