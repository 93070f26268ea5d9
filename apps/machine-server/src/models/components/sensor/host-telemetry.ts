/**
 * `core:builtin:host-telemetry`: this computer, read from the operating system.
 *
 * Attributes: `volumes` (list of mount points; default: the root and every mounted disk, at most 8). A reading: `cpu_percent`,
 * `cpu_percent_per_core` [], `load_1m|5m|15m`, `memory_total_bytes|used_bytes|used_percent`, `swap_total_bytes|used_bytes`,
 * `disks.<volume>.total_bytes|used_bytes|used_percent`, `disk_io.<device>.read_bytes|written_bytes`,
 * `network.<interface>.received_bytes|sent_bytes`, `temperatures.<zone>` (°C), `uptime_seconds`. Byte counts of devices start when the
 * device starts. Percentages cover the time since the last reading. Values that the system does not provide are absent. Names become keys
 * of documents, so `/` is `root`, and dots and slashes become `_`.
 */
import type { Sensor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { readAttributes, stringsOf } from '../../attributes.ts';
import { noCommands } from '../../no-commands.ts';
import { createCpuMeter } from './host/cpu.ts';
import { readDiskIo } from './host/disk-io.ts';
import { findVolumes, readVolumes } from './host/disks.ts';
import { readLoad } from './host/load.ts';
import { readMemory } from './host/memory.ts';
import { readNetwork } from './host/network.ts';
import { createThermometers } from './host/temperatures.ts';

const fields = { volumes: { kind: 'list' } } as const;

export const hostTelemetry: Model = {
  api: 'core:component:sensor',
  model: 'core:builtin:host-telemetry',
  fields,
  async build({ attributes }): Promise<Sensor> {
    const { volumes } = readAttributes(fields, attributes);
    const mounts = volumes === undefined ? findVolumes() : stringsOf(volumes, 'volumes');
    const cpu = createCpuMeter();
    const thermometers = createThermometers();
    return {
      readings: () => ({
        ...cpu(),
        ...readLoad(),
        ...readMemory(),
        disks: readVolumes(mounts),
        disk_io: readDiskIo(),
        network: readNetwork(),
        temperatures: thermometers(),
      }),
      doCommand: noCommands('host telemetry has no commands'),
      async close() {},
    };
  },
};
