/** kill -9 of the cloud and of its tabular process at random moments during uploads: each acknowledged reading exists once. */
import { expect, test } from 'vitest';
import { CloudUnderFire, countOf, linkTo, pauseMs, seededRandom, UploadEnd, uploadUntil } from './cloud-under-load.ts';
import { readFaultSettings } from './fault-settings.ts';

const { kills, seed } = readFaultSettings();
const uploaders = ['a', 'b', 'c'];

async function underFire(seed: number, strike: (cloud: CloudUnderFire) => Promise<void>): Promise<void> {
  await using cloud = await CloudUnderFire.start();
  const random = seededRandom(seed);
  const ends = uploaders.map(() => new UploadEnd());
  const uploads = uploaders.map((name, index) => uploadUntil(cloud, name, () => ends[index]?.ask() ?? true));
  for (let kill = 0; kill < kills; kill++) {
    await pauseMs(random(20, 600));
    await strike(cloud);
  }
  await Promise.all(ends.map((end) => end.acknowledged(1)));
  for (const end of ends) end.isDue = true;
  const outcomes = await Promise.all(uploads);
  await using link = linkTo(cloud);
  for (const [index, name] of uploaders.entries()) {
    const { acknowledged, retries } = outcomes[index] ?? { acknowledged: 0, retries: 0 };
    console.log(`seed ${seed}, uploader ${name}: ${acknowledged} readings acknowledged, ${retries} tries again`);
    expect(acknowledged).toBeGreaterThan(0);
    const found = await countOf(link, cloud.demo.organizationId, name);
    expect(found).toEqual({ _id: null, distinct: acknowledged, rows: acknowledged, least: 1, greatest: acknowledged });
  }
}

test(
  `I2 I5 I14 the cloud is killed ${kills} times during uploads: no acknowledged reading is missing or duplicated`,
  async () => {
    await underFire(seed, async (cloud) => {
      await cloud.kill();
      await cloud.start();
    });
  },
  kills * 20_000,
);

test(
  `I8 I14 the tabular process is killed ${kills} times during uploads: no acknowledged reading is missing or duplicated`,
  async () => {
    await underFire(seed + 1, async (cloud) => {
      const pids = cloud.tabularPids();
      expect(pids.length).toBeLessThanOrEqual(1);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
    });
  },
  kills * 20_000,
);
