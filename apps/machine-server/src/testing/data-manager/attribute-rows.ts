/**
 * The observable effect of editing each attribute of the data manager and of capture methods. Those that the cloud enforces
 * (`recent_data_store`, `retention_policy`, `delete_data_on_part_deletion`) are in `conformance/src/machine/kept-data.test.ts` and
 * `conformance/src/deletion/retention.test.ts`.
 */
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError, systemClock } from '@platform/base';
import { type Gap, GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { expect } from 'vitest';
import { until } from '../start-test-server.ts';
import { captured, producesNothing, type Rig, sends, sendsNothing } from './rig.ts';

const names = async (folder: string): Promise<string[]> => readdir(folder, { recursive: true }).catch(() => []);
const sealed = async (folder: string): Promise<string[]> =>
  (await names(folder)).filter((name) => name.endsWith('.capture'));
export const attributeRows: Readonly<Record<string, (rig: Rig) => Promise<void>>> = {
  async defaults(rig) {
    await sends(rig, ({ metadata }) => metadata.tags.length === 0 && metadata.methodName === 'Readings');
    expect(await names(join(rig.home, 'capture', 'core_component_sensor', 'counter', 'Readings'))).not.toEqual([]);
    expect(rig.database.connections).toBe(0);
  },
  async capture_disabled(rig) {
    await producesNothing(rig, { capture_disabled: true });
    rig.edit({});
    await captured(rig);
  },
  async capture_dir(rig) {
    const capture_dir = join(rig.home, 'elsewhere');
    rig.edit({ capture_dir });
    await until('files there', async () => (await names(capture_dir)).some((name) => /\.(prog|capture)$/.test(name)));
    await sends(rig);
  },
  async tags(rig) {
    rig.edit({ tags: ['line-1', 'a_b'] });
    await sends(rig, ({ metadata }) => metadata.tags.join() === 'line-1,a_b');
  },
  async 'tags of a method'(rig) {
    rig.edit({ tags: ['line-1'] }, { tags: ['own'] });
    await sends(rig, ({ metadata }) => metadata.tags.join() === 'line-1,own');
  },
  async sync_disabled(rig) {
    rig.edit({ sync_disabled: true });
    await sendsNothing(rig);
    rig.edit({});
    await sends(rig);
  },
  async sync_interval_mins(rig) {
    rig.edit({ sync_interval_mins: 60 });
    await sendsNothing(rig);
    rig.edit({});
    await sends(rig);
  },
  async selective_syncer_name(rig) {
    rig.edit({ selective_syncer_name: 'gate' });
    await sendsNothing(rig);
    rig.edit({ selective_syncer_name: 'open' });
    await sends(rig);
  },
  async additional_sync_paths(rig) {
    const folder = join(rig.home, 'extra');
    await mkdir(folder);
    await writeFile(join(folder, 'a.txt'), 'text');
    rig.edit({ additional_sync_paths: [folder], file_last_modified_millis: 0 });
    await until('the file', () => rig.cloud.files.size === 1);
    await until('an empty folder', async () => (await names(folder)).length === 0);
  },
  async file_last_modified_millis(rig) {
    const folder = join(rig.home, 'later');
    await mkdir(folder);
    rig.edit({ tags: ['later'], additional_sync_paths: [folder], file_last_modified_millis: 3_600_000 });
    await sends(rig, ({ metadata }) => metadata.tags.join() === 'later');
    await writeFile(join(folder, 'b.txt'), 'text');
    await captured(rig, 40);
    expect(await names(folder)).toEqual(['b.txt']);
    rig.edit({ additional_sync_paths: [folder], file_last_modified_millis: 0 });
    await until('an empty folder', async () => (await names(folder)).length === 0);
  },
  async maximum_capture_file_size_bytes(rig) {
    const capture_dir = join(rig.home, 'small');
    rig.edit({ capture_dir, sync_disabled: true, maximum_capture_file_size_bytes: 1_000 });
    await until('full files', async () => (await sealed(capture_dir)).length >= 3);
    for (const name of await sealed(capture_dir))
      expect((await stat(join(capture_dir, name))).size).toBeLessThan(1_400);
  },
  async maximum_num_sync_threads(rig) {
    const capture_dir = join(rig.home, 'small');
    const full = { capture_dir, maximum_capture_file_size_bytes: 600 };
    const mostAtOnce = async (threads: number): Promise<number> => {
      rig.edit({ ...full, sync_disabled: true });
      await until('waiting files', async () => (await sealed(capture_dir)).length >= 36);
      let [now, most] = [0, 0];
      const released = Promise.withResolvers<void>();
      rig.cloud.before = async () => {
        most = Math.max(most, ++now);
        await released.promise;
        now--;
      };
      rig.edit({ ...full, maximum_num_sync_threads: threads });
      await until('uploads', () => now >= 16 * threads);
      await captured(rig);
      released.resolve();
      await until('nothing waits', async () => (await sealed(capture_dir)).length < 4);
      rig.cloud.before = () => {};
      return most;
    };
    expect(await mostAtOnce(1)).toBe(16);
    expect(await mostAtOnce(2)).toBe(32);
  },
  async 'docdb_capture_config.uri, .database, .collection'(rig) {
    const { database } = rig;
    rig.edit({ docdb_capture_config: { uri: database.uri } });
    await until('documents', () => (database.collections.get('sensorData.readings')?.size ?? 0) > 0);
    rig.edit({ docdb_capture_config: { uri: database.uri, database: 'plant', collection: 'press' } });
    await until('documents', () => (database.collections.get('plant.press')?.size ?? 0) > 0);
  },
  async 'disk_usage_deletion_threshold, capture_dir_deletion_threshold, delete_every_nth_when_disk_full'(rig) {
    const capture_dir = join(rig.home, 'full');
    const base = { capture_dir, sync_disabled: true, maximum_capture_file_size_bytes: 600 };
    rig.edit({ ...base, disk_usage_deletion_threshold: 0, capture_dir_deletion_threshold: 1 });
    await until('files', async () => (await sealed(capture_dir)).length >= 6);
    rig.edit({ ...base, disk_usage_deletion_threshold: 1, capture_dir_deletion_threshold: 0 });
    await captured(rig, 40);
    expect(discardedIn(rig)).toEqual([]);
    const full = { disk_usage_deletion_threshold: 0, capture_dir_deletion_threshold: 0 };
    // Readings are discarded twice a minute; until then, few more are needed.
    rig.edit({ ...base, ...full, delete_every_nth_when_disk_full: 3 }, { capture_frequency_hz: 2 });
    await until('discarded readings', () => discardedIn(rig).length > 0);
    rig.edit({});
    await sends(rig);
  },
  async 'readings that the cloud refuses are a gap'({ cloud }) {
    cloud.before = () => {
      cloud.before = () => {};
      throw new PlatformError('invalid_argument', 'not these');
    };
    await until('the gap', () => [...cloud.gaps.values()].some(({ reason }) => reason === GapReason.REFUSED));
  },
  async disabled(rig) {
    await producesNothing(rig, {}, { disabled: true });
    rig.edit({});
    await captured(rig);
  },
  async capture_frequency_hz(rig) {
    await producesNothing(rig, {}, { capture_frequency_hz: 1e-6 });
    const before = rig.produced();
    rig.edit({}, { capture_frequency_hz: 200 });
    await until('readings', () => rig.produced() > before + 20);
  },
  async capture_directory(rig) {
    const capture_directory = join(rig.home, 'own');
    rig.edit({}, { capture_directory });
    await until('files', async () => (await names(capture_directory)).some((name) => /\.(prog|capture)$/.test(name)));
    await sends(rig);
  },
  async capture_buffer_size(rig) {
    // With a buffer, a file grows when the buffer is full or flushed; without one, at each reading.
    const growths = async (capture_buffer_size: number): Promise<number> => {
      const capture_directory = join(rig.home, `buffer-${capture_buffer_size}`);
      await rig.applied({ sync_disabled: true }, { capture_directory, capture_buffer_size });
      await until('an open file', async () => (await names(capture_directory)).some((name) => name.endsWith('.prog')));
      const sizes = new Set<number>();
      const wanted = rig.produced() + 100;
      while (rig.produced() < wanted) {
        sizes.add(await bytesBelow(capture_directory));
        await systemClock.sleep(3);
      }
      return sizes.size;
    };
    const [without, withBuffer] = [await growths(0), await growths(1_000_000)];
    expect(without).toBeGreaterThan(2 * withBuffer);
    rig.edit({});
    await sends(rig);
  },
  async capture_queue_size(rig) {
    // While its disk is full, this many readings wait; after that, no more are taken.
    const takenWhileFull = async (capture_queue_size: number): Promise<number> => {
      const capture_directory = join(rig.disk.path, String(capture_queue_size));
      const method = { capture_directory, capture_queue_size, capture_buffer_size: 0 };
      await rig.applied({ sync_disabled: true }, method);
      await until('a file', async () => (await names(capture_directory)).some((name) => name.endsWith('.prog')));
      rig.disk.fill(0);
      const failures = (): number => rig.run.count('writing captured readings failed');
      const before = failures();
      await until('a failed write', () => failures() > before);
      const from = rig.produced();
      for (let last = -1; last !== rig.produced(); ) {
        last = rig.produced();
        const seen = failures();
        await until('another failed write', () => failures() > seen);
      }
      rig.disk.empty();
      return rig.produced() - from;
    };
    const few = await takenWhileFull(5);
    rig.edit({});
    await sends(rig);
    expect(await takenWhileFull(60)).toBeGreaterThan(few + 20);
    rig.edit({});
    await sends(rig);
  },
  async additional_params(rig) {
    const docommand_input = { set: { marked: 7 } };
    rig.cloud.document = withCommand(rig.cloud.document, docommand_input);
    await until('the command', () =>
      rig.cloud.stored.some(
        ({ metadata: { componentName, methodName, methodParameters }, readings }) =>
          componentName === 'marker' &&
          methodName === 'DoCommand' &&
          'docommand_input' in methodParameters &&
          readings.some(({ data }) => JSON.stringify(data.value).includes('"marked":7')),
      ),
    );
  },
};

/** The configuration, with a captured command. */
function withCommand(document: unknown, docommand_input: object): object {
  const { components, ...more } = document as { readonly components: readonly { readonly name: string }[] };
  const capture_methods = [{ method: 'DoCommand', capture_frequency_hz: 20, additional_params: { docommand_input } }];
  const service_configs = [{ type: 'data_manager', attributes: { capture_methods } }];
  return { ...more, components: components.map((one) => (one.name === 'marker' ? { ...one, service_configs } : one)) };
}

async function bytesBelow(directory: string): Promise<number> {
  const sizes = await Promise.all(
    (await names(directory)).map((name) => stat(join(directory, name)).catch(() => undefined)),
  );
  return sizes.reduce((sum, each) => sum + (each?.isFile() ? each.size : 0), 0);
}

function discardedIn({ cloud }: Rig): Gap[] {
  return [...cloud.gaps.values()].filter(({ reason }) => reason === GapReason.DISCARDED);
}
