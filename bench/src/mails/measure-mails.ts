/**
 * Mails of a large fleet through a real mail server (D45): all machines notify of data and go offline at once; then again while the mail
 * server is away and the cloud is killed; then a day without a mail server, with a simulated clock. Each notification must be in exactly
 * one mail, in time. Takes about a quarter of an hour, most of it waiting.
 */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../cloud/scratch.ts';
import { startFleetCloud } from '../fleet/fleet-cloud.ts';
import type { Figure } from '../store/figure.ts';
import { checkMails, figuresOf, type Notification } from './check-mails.ts';
import { away, measureDayAway } from './day-away.ts';
import { createNoisyFleet, everything, type NoisyFleet, noisy } from './noisy-fleet.ts';
import { type Exim, startExim } from './start-exim.ts';

/** For the cloud to write a mail of 2,000 lines, and for the server to accept and deliver it. */
const serverS = 10;
/** Notices are in a mailbox within a minute of the first (D45). */
const noticeS = 60;
/** Data waits for the next mail that the recipient may get: one in four minutes. */
const dataS = 240 + serverS;
const mostInHour = 30;

export async function measureMails(machines: number): Promise<Figure[]> {
  using folder = scratch();
  // The user of Exim must reach its folder.
  chmodSync(folder.path, 0o755);
  await using server = await startExim(join(folder.path, 'exim'), [everything, noisy, away]);
  const figures = await measureFleet(server, machines);
  return [...figures, ...(await measureDayAway(server, machines))];
}

async function measureFleet(server: Exim, machines: number): Promise<Figure[]> {
  await using cloud = await startFleetCloud({
    env: { PLATFORM_SMTP_URL: server.url, PLATFORM_MAIL_FROM: 'Platform <platform@example.com>' },
  });
  const fleet = await createNoisyFleet(cloud, machines);
  await fleet.upload();
  await fleet.hasNotified('data', 1);
  await fleet.hasNotified('offline', 1);
  await fleet.settled();
  const first = notificationsOf(fleet);
  const mails = { everything: server.mailsTo(everything), noisy: server.mailsTo(noisy) };
  const together = checkMails([], mails.everything);
  const figures: Figure[] = [
    ...figuresOf(
      `${machines} machines at once: data`,
      first.data.length,
      checkMails(first.data, mails.everything),
      dataS,
    ),
    ...figuresOf(
      `${machines} machines at once: offline`,
      first.offline.length,
      checkMails(first.offline, mails.everything),
      noticeS,
    ),
    ...figuresOf('a notice beside data of all machines', 1, checkMails(first.single, mails.noisy), noticeS),
    {
      name: 'mails about data within an hour',
      // One of them is the notice.
      value: checkMails([], mails.noisy).mostInHour - 1,
      unit: 'mails',
      most: mostInHour,
      note: `with notices, ${together.mostInHour} mails to one person`,
    },
  ];

  await server.stop();
  await fleet.upload();
  await fleet.hasNotified('data', 2);
  await cloud.kill();
  await cloud.restart();
  await fleet.hasNotified('offline', 2);
  const returnedMs = Date.now();
  const waitS = fleet.longestWaitMs() / 1_000;
  await server.start();
  await fleet.settled();
  const settledS = (Date.now() - returnedMs) / 1_000;
  const known = new Set([...first.data, ...first.offline].map(({ id }) => id));
  for (const trigger of ['data', 'offline'] as const) {
    const later = fleet.notificationsTo(everything, trigger, known);
    const checked = checkMails(later, server.mailsTo(everything));
    figures.push(...figuresOf(`server away, cloud killed: ${trigger}`, later.length, checked));
  }
  figures.push({
    ...{ name: 'from the return of the server until all is delivered', value: settledS, unit: 's' },
    ...{ most: waitS + dataS, note: `the last attempt was due after ${waitS.toFixed(0)} s` },
  });
  return figures;
}

interface Notified {
  readonly data: readonly Notification[];
  readonly offline: readonly Notification[];
  /** The notice to the recipient of noise. */
  readonly single: readonly Notification[];
}

function notificationsOf(fleet: NoisyFleet): Notified {
  return {
    data: fleet.notificationsTo(everything, 'data'),
    offline: fleet.notificationsTo(everything, 'offline'),
    single: fleet.notificationsTo(noisy, 'offline'),
  };
}
