/**
 * A machine-server whose data manager is edited while it runs, with all receivers of its data. Its readings come from an external source.
 */
import {
  type DocumentServer,
  Ledger,
  type LedgerSource,
  layeredDisk,
  type SmallDisk,
  startDocumentServer,
  startLedgerSource,
} from '@platform/testkit';
import { type FakeCloud, partId, startFakeCloud } from '../fake-cloud.ts';
import { Machine, type Run } from '../options/machine-run.ts';
import { until } from '../start-test-server.ts';

export const api = 'core:component:sensor';
export const fake = 'core:builtin:fake';
/** Makes each edit a new revision. */
let edits = 0;

function documentWith(url: string, service: object, method: object = {}): Record<string, unknown> {
  const capture_methods = [{ method: 'Readings', capture_frequency_hz: 50, ...method }];
  const service_configs = [{ type: 'data_manager', attributes: { capture_methods } }];
  return {
    components: [
      { name: 'counter', api, model: 'core:builtin:http', attributes: { url }, service_configs },
      { name: 'gate', api, model: fake, attributes: { readings: { should_sync: false } } },
      { name: 'open', api, model: fake, attributes: { readings: { should_sync: true } } },
      { name: 'marker', api, model: fake, attributes: { readings: { edits: edits++ } } },
    ],
    services: [
      {
        ...{ name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin' },
        attributes: { sync_interval_mins: 0.002, ...service },
      },
    ],
  };
}

export const credentials = (cloud: FakeCloud): object => ({
  cloud: { id: partId, secret: 'secret', app_address: cloud.url, refresh_interval: '100ms' },
});

export interface Rig {
  readonly cloud: FakeCloud;
  readonly run: Run;
  readonly home: string;
  readonly database: DocumentServer;
  readonly source: LedgerSource;
  /** A capture directory on a disk that can be filled. */
  readonly disk: SmallDisk;
  readonly produced: () => number;
  /** Edits the configuration. */
  edit(service: object, method?: object): void;
  /** Edits it, and resolves once the new configuration runs. */
  applied(service: object, method?: object): Promise<void>;
}

export async function startRig(stack: AsyncDisposableStack): Promise<Rig> {
  const source = stack.use(await startLedgerSource(new Ledger()));
  const url = source.url('machine', 'counter');
  const cloud = stack.use(await startFakeCloud(documentWith(url, {})));
  const machine = stack.use(await Machine.create());
  const database = stack.use(await startDocumentServer());
  const disk = stack.use(layeredDisk(16 * 1024 * 1024));
  const run = await machine.run({ document: credentials(cloud), env: disk.env });
  const edit = (service: object, method?: object): void => {
    cloud.document = documentWith(url, service, method);
  };
  return {
    ...{ cloud, run, home: machine.home, database, source, disk, edit },
    produced: () => source.produced.length,
    async applied(service, method) {
      const before = run.count('configuration applied');
      edit(service, method);
      await until('an applied configuration', () => run.count('configuration applied') > before);
    },
  };
}

/** Resolves once `more` readings were taken. */
export async function captured({ produced }: Rig, more = 20): Promise<void> {
  const wanted = produced() + more;
  await until(`${more} more readings`, () => produced() >= wanted);
}
/** Resolves once sync no longer sends anything, and 20 more readings were taken meanwhile. */
export async function sendsNothing(rig: Rig): Promise<void> {
  for (let before = -1; before !== rig.cloud.attempts; await captured(rig)) before = rig.cloud.attempts;
}
export async function sends(
  { cloud }: Rig,
  holds: (upload: FakeCloud['stored'][number]) => boolean = () => true,
): Promise<void> {
  const from = cloud.stored.length;
  await until('an upload', () => cloud.stored.slice(from).some(holds));
}

/** Resolves once no reading is taken any longer while edits are applied. */
export async function producesNothing(rig: Rig, service: object, method: object = {}): Promise<void> {
  for (let before = -1; before !== rig.produced(); ) {
    before = rig.produced();
    await rig.applied(service, method);
    await rig.applied(service, method);
  }
}
