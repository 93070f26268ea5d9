/** Which names of capture files and folders survive a power cut. */
import { join } from 'node:path';
import { cutImages, recordSyscalls, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';

const storage = JSON.stringify(new URL('./disk-storage.ts', import.meta.url));

/** A camera's file is sealed at once, and its open name is never synced. Nor does a later sync write a name whose sync failed. */
test.each([undefined, 2, 3, 4])(
  'C6 I14 the first file of a series survives a power cut, with the new folders above it; failed sync: %s',
  async (failedSync) => {
    await using trace = await temporaryDirectory();
    await using home = await temporaryDirectory();
    const file = JSON.stringify(join(home.path, 'capture', 'core_component_camera', 'c', 'GetImages', 'a'));
    const program = `
      process.env.UV_THREADPOOL_SIZE = '1';
      const { diskStorage } = await import(${storage});
      const disk = diskStorage(${JSON.stringify(join(home.path, 'capture'))});
      const again = (caught) => {
        if (caught.code !== 'EIO') throw caught;
        return disk.create(${file} + '.prog');
      };
      const output = await disk.create(${file} + '.prog').catch(again);
      await output.write(Buffer.from('image'), 0);
      await output.sync();
      await disk.rename(${file} + '.prog', ${file} + '.capture');
      await output.close();`;
    const calls = await recordSyscalls({
      command: process.execPath,
      args: ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning', '-e', program],
      ...{ directory: home.path, traceFile: trace.file('trace'), ...(failedSync !== undefined && { failedSync }) },
    });
    expect(calls.filter(({ kind }) => kind === 'failed-sync')).toHaveLength(failedSync === undefined ? 0 : 1);
    // 0: what is not synced does not survive.
    const [image] = cutImages(calls, { random: () => 0, atEnd: 1, randomInstants: 0, everyBoundary: 0 });
    expect([...(image?.files.keys() ?? [])]).toEqual([`${JSON.parse(file)}.capture`]);
  },
);
