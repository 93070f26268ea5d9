/** kill -9 of the machine-server at random moments while it captures and syncs: the cloud's readings have no gaps or duplicates. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppService } from '@platform/proto/platform/app/v1/app';
import type { Link } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { CloudUnderFire, linkOfOwner, linkTo, pauseMs, query, seededRandom } from './cloud-under-load.ts';
import { readFaultSettings } from './fault-settings.ts';

const { kills, seed } = readFaultSettings();
const captureHz = 50;

const configuration = {
  components: [
    {
      name: 'counter',
      api: 'core:component:sensor',
      model: 'core:builtin:fake',
      // `count` numbers the readings of one run: 1, 2, 3, …
      attributes: { wave: true },
      service_configs: [
        {
          type: 'data_manager',
          attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: captureHz }] },
        },
      ],
    },
  ],
  services: [
    {
      name: 'data_manager',
      api: 'core:service:data_manager',
      model: 'core:builtin:builtin',
      attributes: { sync_interval_mins: 0.2 / 60 },
    },
  ],
};

test(
  `I5 I6 the machine-server is killed ${kills} times while it captures: each run’s readings arrive without gaps or duplicates`,
  async () => {
    await using cloud = await CloudUnderFire.start();
    const { organizationId, partId, partSecret } = cloud.demo;
    await using link = linkTo(cloud);
    await using owner = linkOfOwner(cloud);
    await owner
      .client(AppService)
      .updateRobotPart({ id: partId, name: 'under fire', robotConfigJson: JSON.stringify(configuration) });

    const home = mkdtempSync(join(tmpdir(), 'machine-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const credentials = join(home, 'credentials.json');
    writeFileSync(credentials, JSON.stringify({ cloud: { id: partId, secret: partSecret, app_address: cloud.url } }));

    const random = seededRandom(seed);
    for (let kill = 0; kill < kills; kill++) {
      await using machine = cloud.spawnMachine(credentials, home);
      // Files left by the previous run arrive too, often first: only this run's own first reading shows that it captures.
      while ((await runsArrived(link, organizationId)) === kill) await pauseMs(50);
      await pauseMs(random(0, 700));
      await machine.kill('SIGKILL');
    }
    await using last = cloud.spawnMachine(credentials, home);
    while ((await runsArrived(link, organizationId)) === kills) await pauseMs(50);
    while (waitingFiles(join(home, 'capture')).length > 1) await pauseMs(100);
    await last.kill('SIGTERM');
    expect(waitingFiles(join(home, 'capture'))).toEqual([]);

    const rows = await query(link, organizationId, [
      { $match: { component_name: 'counter' } },
      { $sort: { time_received: 1 } },
      { $project: { count: '$data.readings.count' } },
    ]);
    const counts = rows.map((row) => Number(row['count']));
    const breaks = counts.flatMap((count, index) => {
      const previous = counts[index - 1] ?? 0;
      return count === previous + 1 || count === 1 ? [] : [`${count} after ${previous} at row ${index}`];
    });
    console.log(`${counts.length} readings of ${counts.filter((count) => count === 1).length} runs arrived`);
    expect(breaks).toEqual([]);
    expect(counts.filter((count) => count === 1)).toHaveLength(kills + 1);
  },
  kills * 20_000,
);

/** From how many runs the cloud has the first reading. */
async function runsArrived(link: Link, organizationId: string): Promise<number> {
  const [row] = await query(link, organizationId, [
    { $match: { component_name: 'counter', 'data.readings.count': 1 } },
    { $count: 'runs' },
  ]);
  return Number(row?.['runs'] ?? 0);
}

function waitingFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(capture|prog)$/.test(name));
}
