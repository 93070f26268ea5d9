/**
 * kill -9 of the cloud at random moments while notifications by e-mail are gathered: while they wait, while a set is stored, while its mail
 * is sent and before that is recorded (docs/specs/triggers.md, "Notifications by e-mail"). Runs only in `npm run fault -- mails`: mails
 * about data wait for four minutes.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { faultProgress, type ReceivedMail, reportFault, startSmtpSink } from '@platform/testkit';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkOfOwner, pauseMs, seededRandom, uploadUntil } from './cloud-under-load.ts';
import { readFaultSettings } from './fault-settings.ts';

const { kills, seed } = readFaultSettings();
/** Each has its own recipient, who soon gets no single mails any more. */
const components = 30;
const uploadsEach = 40;
/** The others upload meanwhile, so that each is silent for longer than its trigger allows. */
const uploadEveryMs = 150;
/** The kills are spread over the time until the last mails about data are due. */
const killingMs = 300_000;
const mostInHour = 30;

interface Found {
  readonly id: string;
  readonly target: string;
  readonly trigger_name: string;
  readonly state: string;
}

function messagesIn(directory: string): readonly Found[] {
  const store = new DatabaseSync(join(directory, 'meta.sqlite'), { readOnly: true });
  try {
    return store
      .prepare("select id, target, trigger_name, state from outbox_messages where trigger_name <> ''")
      .all() as unknown as Found[];
  } finally {
    store.close();
  }
}

/** Each upload of a component is an event about data, and its silence afterwards a notice, for the recipient of the component. */
function configuration(): object {
  const all = Array.from({ length: components }, (_, n) => `sensor-${n}`);
  const trigger = (name: string, component: string, conditional: object) => ({
    name: `${name} ${component}`,
    event: {
      type: 'conditional_data_ingested',
      conditional: { data_capture_method: `sensor:${component}:Readings`, ...conditional },
    },
    notifications: [{ type: 'email', value: `${component}@example.com` }],
  });
  return {
    components: all.map((name) => ({ name, api: 'core:component:sensor', model: 'core:builtin:fake' })),
    triggers: all.flatMap((component) => [
      trigger('data', component, { conditions: { evals: [{ operator: 'gt', value: { n: 0 } }] } }),
      trigger('silent', component, { absent_for_secs: 2 }),
    ]),
  };
}

function idsIn({ text }: ReceivedMail): string[] {
  return Array.from(text.matchAll(/\/notifications\/([\w-]+)/g), ([, id = '']) => id);
}

function messageIdOf({ headers }: ReceivedMail): string {
  return headers.get('message-id') ?? '';
}

test(`I11 D45 the cloud is killed ${kills} times while mails are gathered: each notification is in exactly one mail, which is repeated only with the same id and content`, async () => {
  await using server = await startSmtpSink();
  await using cloud = await CloudUnderFire.start({
    PLATFORM_SMTP_URL: server.url,
    PLATFORM_MAIL_FROM: 'Platform <platform@example.com>',
  });
  await using owner = linkOfOwner(cloud);
  const { partId } = cloud.demo;
  const robotConfigJson = JSON.stringify(configuration());
  await owner.client(AppService).updateRobotPart({ id: partId, name: 'main', robotConfigJson });
  const random = seededRandom(seed);
  const upload = async (): Promise<void> => {
    for (let n = 0; n < components * uploadsEach; n++) {
      let asked = 0;
      await uploadUntil(cloud, `sensor-${n % components}`, () => asked++ > 0);
      await pauseMs(uploadEveryMs);
    }
  };
  const uploading = upload();
  for (let kill = 0; kill < kills; kill++) {
    await pauseMs(random(20, (2 * killingMs) / kills));
    await cloud.kill();
    await cloud.start();
    faultProgress('mails', kill + 1, kills);
  }
  await uploading;
  const count = (name: string): number =>
    messagesIn(cloud.directory).filter(({ trigger_name: trigger }) => trigger.startsWith(name)).length;
  await expect.poll(() => count('data '), { timeout: 600_000, interval: 1_000 }).toBe(components * uploadsEach);
  const undelivered = (): string[] =>
    messagesIn(cloud.directory).flatMap(({ state }) => (state === 'delivered' ? [] : [state]));
  await expect.poll(undelivered, { timeout: 900_000, interval: 1_000 }).toEqual([]);

  const mails = [...server.mails];
  const mailsOf = new Map<string, Set<string>>();
  for (const mail of mails)
    for (const id of idsIn(mail)) mailsOf.set(id, (mailsOf.get(id) ?? new Set()).add(messageIdOf(mail)));
  const messages = messagesIn(cloud.directory);
  expect(messages.filter(({ id }) => mailsOf.get(id)?.size !== 1)).toEqual([]);
  expect(messages).toHaveLength(mailsOf.size);
  for (const alike of Map.groupBy(mails, messageIdOf).values())
    expect(new Set(alike.map(({ text }) => text)).size).toBe(1);
  const nameOf = new Map(messages.map(({ id, trigger_name: name }) => [id, name]));
  const aboutData = mails.filter((mail) => idsIn(mail).some((id) => nameOf.get(id)?.startsWith('data ')));
  for (const toOne of Map.groupBy(aboutData, ({ to }) => to[0]).values())
    expect(toOne.length).toBeLessThanOrEqual(mostInHour);
  reportFault('mails', {
    kills,
    notifications: messages.length,
    mails: mails.length,
    repeated: mails.length - new Set(mails.map(messageIdOf)).size,
    listed: mails.filter((mail) => idsIn(mail).length > 1).length,
  });
});
