/** The home of a machine-server on a disk that lies until its power is cut; from then on, on a disk that works. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CutImage,
  cutImages,
  type DiskFaults,
  type ProcessDisk,
  restoreImage,
  spawnChild,
  startDiskFaults,
} from '@platform/testkit';

export interface MachineDisk extends ProcessDisk {
  readonly faults: DiskFaults;
  /** Leaves what survives a power cut; no process may run. @param random uniform in [0, 1) @returns the changes of names that did not */
  cutPower(random: () => number): Promise<CutImage['forgotten']>;
}

/** @throws without Linux or a C compiler */
export async function startMachineDisk(): Promise<MachineDisk> {
  const path = mkdtempSync(join(tmpdir(), 'machine-disk-'));
  const faults = await startDiskFaults(path);
  let { env } = faults;
  return {
    ...{ path, inside: path, faults },
    spawn: (args, more) => spawnChild(process.execPath, args, { env: { ...more, ...env } }),
    async cutPower(random) {
      const none = { randomInstants: 0, everyBoundary: 0 };
      const [image] = cutImages(faults.calls(), { random, atEnd: 1, ...none, ignore: isOfThisBoot });
      if (image === undefined) throw new Error('expected an image after the last call, found none');
      env = {};
      rmSync(path, { recursive: true });
      mkdirSync(path);
      await restoreImage(image, path, path);
      return image.forgotten;
    },
    async [Symbol.asyncDispose]() {
      await faults[Symbol.asyncDispose]();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** The note of what a kill loses names the boot of the operating system, which no simulated power cut changes. */
function isOfThisBoot(path: string): boolean {
  return path.endsWith('/capture_written');
}
