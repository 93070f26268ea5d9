/**
 * Runs that several rows share, because a start takes a quarter of a second of processor time. Options and attributes share one only if none
 * of them could be taken for another by its effect.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { writeOddModule, writeTestModule } from '../modules/write-module.ts';
import { until } from '../start-test-server.ts';
import { type Given, Machine, oneSensor, type Run } from './machine-run.ts';

export interface SharedRun {
  readonly run: Run;
  readonly home: string;
}

export interface EndedRun extends SharedRun {
  readonly code: number | null;
}

/** Two servers with a module that does not do something in time. */
export interface Waiting {
  /** With the default. */
  readonly patient: Run;
  /** Started later, with 1 s. */
  readonly hasty: Run;
}

const handlers = [{ type: 'api-key', config: { 'key-id': 'key-value', keys: ['key-id'] } }];
/** Listens on all addresses. */
export const open = { env: { PLATFORM_BIND_ADDRESS: '0.0.0.0:0' }, document: { ...oneSensor, auth: { handlers } } };

export class SharedRuns implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();

  /** One fake sensor, no options. */
  readonly plain = once(() => this.#start(async () => ({})));

  /** Options whose effects are independent. */
  readonly equipped = once(() =>
    this.#start(async (home) => {
      await mkdir(join(home, 'web'));
      await writeFile(join(home, 'web', 'hello.txt'), 'hello');
      return {
        args: ['-debug', '-version=false', '-shareddir', join(home, 'web'), '-webprofile', '-webrtc=false'],
        env: { PLATFORM_LOGFILE: join(home, 'also.log'), PLATFORM_TRUSTED_PROXIES: '127.0.0.1' },
      };
    }),
  );

  /** Whole-machine fields whose effects are independent. */
  readonly configured = once(() =>
    this.#start(async () => ({ document: { ...oneSensor, debug: true, disable_log_deduplication: true } })),
  );

  /** Every field has a wrong value. */
  readonly faulty = once(() =>
    this.#start(async (home) => ({
      document: {
        ...captured({ log_configuration: 'loud' }),
        ...(await greeter(home, { log_level: 'loud' })),
        ...{ debug: 'yes', disable_log_deduplication: 'yes', log: [{ pattern: '(', level: 'debug' }] },
      },
    })),
  );

  /** A captured sensor. */
  readonly captured = once(() => this.#start(async () => ({ document: captured() })));

  /** A captured sensor that logs no more than warnings; only the log of clients has debug lines. */
  readonly quietProbe = once(() =>
    this.#start(async () => ({
      document: {
        ...captured({ log_configuration: { level: 'warn' } }),
        log: [{ pattern: 'serve.clients.*', level: 'debug' }],
      },
    })),
  );

  /** Listens on all addresses without TLS, and is not announced. */
  readonly open = once(() => this.#start(async () => ({ ...open, args: ['-no-tls', '-disable-mdns'] })));

  /** Its configuration starts programs. */
  readonly programs = once(() => this.#start(async (home) => ({ document: await programs(home) })));

  /** One fake sensor, no options, one call; stopped once the first diagnostics were written. */
  readonly stopped = once(() =>
    this.#startAndStop(
      async () => ({}),
      async ({ run, home }) => {
        await run.link.client(SensorService).getReadings({ name: 'probe' });
        // Written after ten samples, one per second.
        await until('a file', async () => (await readdir(join(home, 'ftdc')).catch(() => [])).length > 0);
      },
    ),
  );

  /** Without diagnostics; with a profile of the whole run. */
  readonly withoutDiagnostics = once(() =>
    this.#startAndStop(async (home) => ({
      args: ['-ftdc=false', '-cpuprofile', join(home, 'run.cpuprofile')],
      env: { PLATFORM_NO_WINDOWS_EVENT_LOGGER: '1' },
    })),
  );

  /** Their module is never ready. */
  readonly waiting = once(() => this.#startTwo('never-ready', 'PLATFORM_MODULE_STARTUP_TIMEOUT'));

  /** Their module never adds a resource. */
  readonly adding = once(() => this.#startTwo('never-adds', 'PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT'));

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #machine(): Promise<Machine> {
    return this.#stack.use(await Machine.create());
  }

  async #start(given: (home: string) => Promise<Given>): Promise<SharedRun> {
    const machine = await this.#machine();
    return { run: await machine.run(await given(machine.home)), home: machine.home };
  }

  async #startAndStop(
    given: (home: string) => Promise<Given>,
    use: (started: SharedRun) => Promise<void> = async () => {},
  ): Promise<EndedRun> {
    const started = await this.#start(given);
    await use(started);
    return { ...started, code: (await started.run.stop()).code };
  }

  async #startTwo(behaviour: string, variable: string): Promise<Waiting> {
    const [first, second] = [await this.#machine(), await this.#machine()];
    const patient = await first.serve({ document: await withModule(first.home, behaviour) });
    // Begins later, and ends earlier.
    const document = await withModule(second.home, behaviour);
    return { patient, hasty: await second.serve({ document, env: { [variable]: '1s' } }) };
  }
}

function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => {
    started ??= start();
    return started;
  };
}

const captured = (more: object = {}): object => ({
  components: [
    {
      ...{ name: 'probe', api: 'core:component:sensor', model: 'core:builtin:fake', ...more },
      service_configs: [
        { type: 'data_manager', attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 1 }] } },
      ],
    },
  ],
  services: [{ name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin' }],
});

/** A configuration with the module `test-module.ts`. */
export const greeter = async (home: string, more: object): Promise<object> => ({
  modules: [{ name: 'greeter', type: 'local', executable_path: await writeTestModule(home), ...more }],
});

/** Settings that run programs on the computer, and another place for captured data. */
export async function programs(home: string): Promise<object> {
  return {
    components: [
      {
        ...{ name: 'date', api: 'core:component:sensor', model: 'core:builtin:command' },
        attributes: { command: 'echo', args: ['{"n": 1}'] },
      },
    ],
    services: [
      { name: 'sh', api: 'core:service:shell', model: 'core:builtin:builtin' },
      {
        ...{ name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin' },
        attributes: { capture_dir: `${home}/elsewhere` },
      },
    ],
    ...(await greeter(home, {})),
  };
}

async function withModule(home: string, behaviour: string): Promise<object> {
  return {
    modules: [{ name: 'odd', type: 'local', executable_path: await writeOddModule(home, behaviour) }],
    components: [
      { name: 'c', api: 'core:component:sensor', model: 'acme:demo:counter', attributes: { greeting: 'hi' } },
    ],
  };
}
