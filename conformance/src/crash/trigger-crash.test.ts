/**
 * kill -9 of the cloud at random moments while triggers fire: the messages are exactly those that an oracle computes from the acknowledged
 * readings, each delivered at least once, under one id.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkOfOwner, pauseMs, seededRandom, uploadUntil } from './cloud-under-load.ts';
import { readFaultSettings } from './fault-settings.ts';

const { triggerKills: kills, seed } = readFaultSettings();
/** Readings of an upload of `uploadUntil`, which are numbered 1, 2, … */
const perUpload = 10;

function configuration(target: string): object {
  const on = (operator: string, n: number) => ({ operator, value: { n } });
  const trigger = (name: string, event: object) => ({
    name,
    event,
    notifications: [{ type: 'webhook', value: target }],
  });
  const conditional = (more: object) => ({
    type: 'conditional_data_ingested',
    conditional: { data_capture_method: 'sensor:a:Readings', ...more },
  });
  return {
    components: [{ name: 'a', api: 'core:component:sensor', model: 'core:builtin:fake' }],
    triggers: [
      trigger('every', { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } }),
      trigger('some', conditional({ conditions: { evals: [on('gt', 55), on('lte', 95)] } })),
      trigger(
        'alarm',
        conditional({ conditions: { evals: [on('gte', 15), on('lt', 60)] }, clear: { evals: [on('gte', 40)] } }),
      ),
      trigger('online', { type: 'part_online' }),
    ],
  };
}

/** `<trigger> <what>` of each message that must exist, from the number of acknowledged readings alone. */
function expected(acknowledged: number): string[] {
  const list = ['online part_online'];
  for (let first = 1; first <= acknowledged; first += perUpload) {
    const readings = Array.from({ length: perUpload }, (_, index) => first + index);
    list.push(`every ${readings.at(-1)}`);
    const some = readings.find((n) => n > 55 && n <= 95);
    if (some !== undefined) list.push(`some ${some}`);
  }
  let isFiring = false;
  for (let n = 1; n <= acknowledged; n++) {
    if (isFiring ? n >= 40 : n >= 15 && n < 60) {
      isFiring = !isFiring;
      list.push(`alarm ${isFiring ? 'firing' : 'recovered'} ${n}`);
    }
  }
  return list.sort();
}

interface Found {
  readonly trigger_name: string;
  readonly event: string;
  readonly state: string;
  readonly accepted: number;
}

/** What the outbox of a stopped cloud holds. */
function messagesIn(directory: string): readonly Found[] {
  const store = new DatabaseSync(join(directory, 'meta.sqlite'), { readOnly: true });
  try {
    const statement = store.prepare(
      `select trigger_name, event, state, (select count(*) from outbox_attempts
         where message_id = id and outcome = 'accepted') as accepted from outbox_messages where trigger_name <> ''`,
    );
    return statement.all() as unknown as Found[];
  } finally {
    store.close();
  }
}

function nameOf({ trigger_name: trigger, event }: Found): string {
  const { type, data, change } = JSON.parse(event);
  const n = data?.reading?.data?.readings?.n ?? type;
  return change === undefined ? `${trigger} ${n}` : `${trigger} ${change.to} ${n}`;
}

test(
  `I11 the cloud is killed ${kills} times while triggers fire: each event is notified once, under one id, and none is missing`,
  async () => {
    await using cloud = await CloudUnderFire.start();
    const { partId } = cloud.demo;
    {
      await using owner = linkOfOwner(cloud);
      const robotConfigJson = JSON.stringify(configuration(`${cloud.url}/test-inbox/webhooks/fault`));
      await owner.client(AppService).updateRobotPart({ id: partId, name: 'main', robotConfigJson });
    }
    const random = seededRandom(seed);
    let over = false;
    const uploads = uploadUntil(cloud, 'a', () => over);
    for (let kill = 0; kill < kills; kill++) {
      await pauseMs(random(20, 900));
      await cloud.kill();
      await cloud.start();
    }
    await pauseMs(300);
    over = true;
    const { acknowledged } = await uploads;
    const wanted = expected(acknowledged);
    // A message that was being sent at a kill is sent again.
    const delivered = (): number => messagesIn(cloud.directory).filter(({ state }) => state === 'delivered').length;
    await expect.poll(delivered, { timeout: 120_000, interval: 250 }).toBeGreaterThanOrEqual(wanted.length);
    await cloud.stop();
    const messages = messagesIn(cloud.directory);
    expect(messages.map(nameOf).sort()).toEqual(wanted);
    expect(messages.filter(({ accepted }) => accepted < 1)).toEqual([]);
    const report = process.env['FAULT_REPORT'];
    if (report !== undefined)
      appendFileSync(
        report,
        `${JSON.stringify({ kills, acknowledged, expected: wanted.length, found: messages.length })}\n`,
      );
  },
  120_000 + kills * 20_000,
);
