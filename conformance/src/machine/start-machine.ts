/** A machine-server in a separate process, with a configuration from a local file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resourceTypes } from '@platform/resources';
import { type ChildProcess, spawnChild } from '@platform/testkit';
import { hasFake } from '../../../apps/machine-server/src/testing/has-fake.ts';
import { program } from '../../../tools/bundles/program.ts';

const main = program('machine-server');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

export interface MachineProcess extends AsyncDisposable {
  readonly url: string;
  /** `host:port`. */
  readonly target: string;
  readonly home: string;
  readonly process: ChildProcess;
}

/** Resolves once it runs. @param args further command line options @param env further variables */
export async function startMachine(
  document: object,
  { args = [], env = {} }: { args?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
): Promise<MachineProcess> {
  const home = mkdtempSync(join(tmpdir(), 'machine-'));
  const file = join(home, 'machine.json');
  writeFileSync(file, JSON.stringify(document));
  const child = spawnChild(process.execPath, [...nodeFlags, main, '-config', file, ...args], {
    env: { PLATFORM_HOME: home, PLATFORM_BIND_ADDRESS: '127.0.0.1:0', ...env },
  });
  const { port } = await child.waitForLine(({ msg }) => msg === 'running');
  return {
    ...{ url: `http://localhost:${port}`, target: `127.0.0.1:${port}`, home, process: child },
    async [Symbol.asyncDispose]() {
      await child.kill('SIGTERM');
      rmSync(home, { recursive: true, force: true });
    },
  };
}

type Attributes = Readonly<Record<string, unknown>>;

const usual: Readonly<Record<string, Attributes>> = {
  board: {
    analogs: [{ name: 'light', value: 7, min: 0, max: 10, step: 1 }],
    digital_interrupts: [{ name: 'door', pin: '11' }],
  },
  discovery: { discoveries: [{ name: 'found', api: 'rdk:component:camera', model: 'acme:cameras:usb' }] },
  encoder: { ticks_per_rotation: 100 },
  gantry: { lengths_mm: [100, 200] },
  movement_sensor: { latitude: 48.1, longitude: 11.6, linear_velocity: { y: 2 } },
  sensor: { readings: { celsius: 21.5 } },
  switch: { position_count: 3, labels: ['off', 'low', 'high'] },
  vision: {
    detections: [{ class_name: 'cat', confidence: 0.9, x_min: 1, y_min: 2, x_max: 3, y_max: 4 }],
    classifications: [{ class_name: 'dark', confidence: 0.1 }, { class_name: 'bright' }],
    detections_3d: [{ class_name: 'cup', confidence: 0.8, z: 500 }],
  },
};

/** One fake of each type, each named `it`; the arm and the camera have frames. */
export function fakesOfEveryType(): Record<string, unknown> {
  const fakes = resourceTypes
    .filter(({ api }) => hasFake(api))
    .map(({ api }) => {
      const type = api.split(':')[2] ?? '';
      const frame = { arm: { parent: 'world' }, camera: { parent: 'it', translation: { x: 1, y: 2, z: 3 } } }[type];
      return { name: 'it', api, model: 'core:builtin:fake', attributes: usual[type] ?? {}, ...(frame && { frame }) };
    });
  // Frames are named after their components, so the camera's frame would have the arm's name.
  const named = fakes.map((fake) => (fake.api.endsWith(':camera') ? { ...fake, name: 'eye' } : fake));
  return {
    components: named.filter(({ api }) => api.includes(':component:')),
    services: named.filter(({ api }) => api.includes(':service:')),
  };
}
