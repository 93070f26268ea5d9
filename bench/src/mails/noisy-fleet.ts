/** A fleet whose machines all notify at once: each reading is too hot, and all machines go offline together. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect } from '@platform/rpc/client';
import { openUnarySession, type UnarySession } from '../cloud/unary-session.ts';
import { mapConcurrently } from '../figures/map-concurrently.ts';
import type { FleetCloud } from '../fleet/fleet-cloud.ts';
import { signIn } from '../fleet/machine-calls.ts';
import { type FleetPart, provisionFleet } from '../fleet/provision-fleet.ts';
import { encodeBatches, sensorData } from '../readings/encode-batches.ts';
import type { Notification } from './check-mails.ts';

/** Gets everything: the data and the notices of all machines. */
export const everything = 'ops';
/** Gets the data of all machines, and notices of the first machine only. */
export const noisy = 'noisy';
const domain = 'example.com';
const hot = 'hot';
const gone = 'gone';
const lanes = 64;
const connections = 8;
const uploadPath = '/platform.app.datasync.v1.DataSyncService/DataCaptureUpload';
const giveUpMs = 15 * 60_000;

export interface NoisyFleet {
  readonly parts: readonly FleetPart[];
  /** Each machine uploads a reading that meets the condition of its trigger. Afterwards, all of them are silent. */
  upload(): Promise<void>;
  /** Waits until each machine has notified this often of data, or of being offline. */
  hasNotified(trigger: 'data' | 'offline', times: number): Promise<void>;
  /** Waits until no notification waits for its mail. */
  settled(): Promise<void>;
  /** All notifications to a recipient, without those of the sets given. */
  notificationsTo(recipient: string, trigger: 'data' | 'offline', known?: ReadonlySet<string>): readonly Notification[];
  /** Longest time until a notification that waits is tried again, ms. */
  longestWaitMs(): number;
}

export async function createNoisyFleet(cloud: FleetCloud, machines: number): Promise<NoisyFleet> {
  const parts = await provisionFleet(cloud, machines, configuration([everything]));
  await saveFor(cloud, parts[0], configuration([everything, noisy]));
  const names = { data: hot, offline: gone };
  const rows = <Row>(sql: string, ...values: string[]): Row[] => {
    const db = new DatabaseSync(join(cloud.dataDirectory, 'meta.sqlite'), { readOnly: true });
    try {
      return db.prepare(sql).all(...values) as Row[];
    } finally {
      db.close();
    }
  };
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    for (const startedMs = performance.now(); !holds(); await sleep(250))
      if (performance.now() - startedMs > giveUpMs) throw new Error(`not "${what}" within ${giveUpMs / 1_000} s`);
  };
  return {
    parts,
    upload: () => upload(cloud, parts),
    hasNotified: (trigger, times) =>
      until(`${times} notifications of each machine (${trigger})`, () => {
        const count = 'select count(*) as n from outbox_messages where target = ? and trigger_name = ?';
        const [row] = rows<{ n: number }>(count, addressOf(everything), names[trigger]);
        return row?.n === times * machines;
      }),
    settled: () =>
      until('all delivered', () => {
        const [row] = rows<{ n: number }>("select count(*) as n from outbox_messages where state = 'pending'");
        return row?.n === 0;
      }),
    notificationsTo: (recipient, trigger, known = new Set()) =>
      rows<{ id: string; created_at: number }>(
        'select id, created_at from outbox_messages where target = ? and trigger_name = ?',
        addressOf(recipient),
        names[trigger],
      )
        .map(({ id, created_at: createdMs }) => ({ id, createdMs }))
        .filter(({ id }) => !known.has(id)),
    longestWaitMs() {
      const [row] = rows<{ at: number | null }>(
        "select max(next_attempt_at) as at from outbox_messages where state = 'pending'",
      );
      return Math.max(0, Number(row?.at ?? 0) - Date.now());
    },
  };
}

function addressOf(recipient: string): string {
  return `${recipient}@${domain}`;
}

/** @param watchers get a mail when the machine is offline */
function configuration(watchers: readonly string[]): object {
  const mailsTo = (recipients: readonly string[]): object[] =>
    recipients.map((recipient) => ({ type: 'email', value: addressOf(recipient) }));
  const conditional = {
    data_capture_method: 'sensor:oven:Readings',
    conditions: { evals: [{ operator: 'gt', value: { temperature: 25 } }] },
  };
  return {
    components: [{ name: 'oven', api: 'core:component:sensor', model: 'core:builtin:fake', attributes: {} }],
    triggers: [
      {
        ...{ name: hot, event: { type: 'conditional_data_ingested', conditional } },
        notifications: mailsTo([everything, noisy]),
      },
      { name: gone, event: { type: 'part_offline' }, notifications: mailsTo(watchers) },
    ],
  };
}

async function saveFor(cloud: FleetCloud, part: FleetPart | undefined, content: object): Promise<void> {
  if (part === undefined) throw new Error('expected a part');
  const { keyId, key, running } = cloud;
  await using link = connect({
    baseUrl: running.url,
    credentials: { entity: keyId, type: 'api-key', payload: key },
  });
  const robotConfigJson = JSON.stringify(content);
  await link.client(AppService).updateRobotPart({ id: part.partId, name: 'main', robotConfigJson });
}

async function upload(cloud: FleetCloud, parts: readonly FleetPart[]): Promise<void> {
  using stack = new DisposableStack();
  const sessions: UnarySession[] = [];
  for (let index = 0; index < connections; index++) sessions.push(stack.use(await openUnarySession(cloud.running.url)));
  await mapConcurrently(lanes, parts.length, async (index) => {
    const [part, session] = [parts[index], sessions[index % connections]];
    if (part === undefined || session === undefined) throw new Error('expected a part and a connection');
    const { partId } = part;
    const reading = () => sensorData(Date.now() * 1_000, { temperature: 30 + (index % 10) });
    const uploadOf = () => ({ partId, componentName: 'oven', reading });
    const one = { partId, stream: randomBytes(16), batches: 1, readingsEach: 1, inFlight: 1, uploadOf };
    for (const request of encodeBatches(one)) await session.call(uploadPath, request, await signIn(session, part));
  });
}
