/**
 * A machine-server and a cloud as processes, with a proxy between them that breaks connections. Each reading comes from an external source,
 * so that all produced readings are known.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { type Gap, GapService } from '@platform/proto/platform/gaps/v1/gaps';
import type { Link } from '@platform/rpc/client';
import {
  type ChildProcess,
  createFaultProxy,
  type ExitStatus,
  type FaultProxy,
  Ledger,
  type LedgerRow,
  type LedgerSource,
  type ProcessDisk,
  type SmallDisk,
  startLedgerSource,
} from '@platform/testkit';
import { CloudUnderFire, linkOfOwner, pauseMs, query } from '../crash/cloud-under-load.ts';

export interface LedgerComponent {
  readonly name: string;
  readonly hz: number;
  /** Makes its readings larger. Default 0. */
  readonly padBytes?: number;
}

/** Separate disks. */
export interface LedgerDisks {
  /** For the machine-server's PLATFORM_HOME. */
  readonly machine?: ProcessDisk;
  /** For the cloud's data directory. */
  readonly cloud?: SmallDisk;
}

export interface LedgerNetwork {
  /** Default 200ms. */
  readonly refreshInterval?: string;
  /** Further components of the configuration. Default: none. */
  readonly others?: readonly object[];
  /** Puts a second proxy in front of the one at this port. @returns the port that the machine-server connects to */
  readonly through?: (port: number) => Promise<number>;
}

const syncEveryMs = 200;
/** Longer than the wait between any two attempts. */
const standstillMs = 180_000;
/** Longer than the wait between two reports of gaps, which grows while the cloud cannot be reached. */
const toldMs = 90_000;

export class LedgerWorld implements AsyncDisposable {
  readonly ledger: Ledger;
  readonly cloud: CloudUnderFire;
  readonly proxy: FaultProxy;
  readonly source: LedgerSource;
  readonly #folder: string;
  readonly #disk: ProcessDisk | undefined;
  readonly #components: readonly LedgerComponent[];
  readonly #others: readonly object[];
  readonly #owner: Link;
  #machine: ChildProcess | undefined;
  /** Whether folders stay on the disk, for inspection. */
  isKept = false;

  private constructor(
    cloud: CloudUnderFire,
    proxy: FaultProxy,
    { ledger, source }: { readonly ledger: Ledger; readonly source: LedgerSource },
    components: readonly LedgerComponent[],
    { disk, others }: { readonly disk: ProcessDisk | undefined; readonly others: readonly object[] },
  ) {
    this.cloud = cloud;
    this.proxy = proxy;
    this.ledger = ledger;
    this.source = source;
    this.#components = components;
    this.#owner = linkOfOwner(cloud);
    this.#disk = disk;
    this.#others = others;
    this.#folder = mkdtempSync(join(tmpdir(), 'ledger-machine-'));
  }

  /** PLATFORM_HOME of the machine-server. */
  get home(): string {
    return this.#disk?.inside ?? this.#folder;
  }

  get #credentials(): string {
    return join(this.#folder, 'credentials.json');
  }

  static async start(
    components: readonly LedgerComponent[],
    disks: LedgerDisks = {},
    { refreshInterval = '200ms', others = [], through = async (port) => port }: LedgerNetwork = {},
  ): Promise<LedgerWorld> {
    const cloud = await (disks.cloud === undefined ? CloudUnderFire.start() : CloudUnderFire.startOn(disks.cloud));
    await cloud.firstStartOver();
    const proxy = await createFaultProxy({ host: '127.0.0.1', port: cloud.port });
    const ledger = new Ledger();
    const source = await startLedgerSource(ledger);
    const world = new LedgerWorld(cloud, proxy, { ledger, source }, components, { disk: disks.machine, others });
    const { partId: id, partSecret: secret } = cloud.demo;
    const address = `http://127.0.0.1:${await through(proxy.port)}`;
    const content = { cloud: { id, secret, app_address: address, refresh_interval: refreshInterval } };
    writeFileSync(world.#credentials, JSON.stringify(content), { mode: 0o600 });
    await world.#configure(true);
    return world;
  }

  async #configure(captures: boolean): Promise<void> {
    const components = this.#components.map(({ name, hz, padBytes }) => ({
      ...{ name, api: 'core:component:sensor', model: 'core:builtin:http' },
      attributes: { url: this.source.url('machine', name, padBytes) },
      service_configs: [
        {
          type: 'data_manager',
          attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: hz, disabled: !captures }] },
        },
      ],
    }));
    const attributes = { sync_interval_mins: syncEveryMs / 60_000 };
    const services = [
      { name: 'data_manager', api: 'core:service:data_manager', model: 'core:builtin:builtin', attributes },
    ];
    const robotConfigJson = JSON.stringify({ components: [...components, ...this.#others], services });
    const { partId: id } = this.cloud.demo;
    await this.#owner.client(AppService).updateRobotPart({ id, name: 'ledger', robotConfigJson });
  }

  /** Starts the machine-server without waiting for anything. */
  spawnMachine(): ChildProcess {
    this.#machine = this.cloud.spawnMachine(this.#credentials, this.#disk ?? this.#folder);
    return this.#machine;
  }

  /** Resolves when the machine-server of the latest start ends. */
  get machineExited(): Promise<ExitStatus | undefined> {
    return this.#machine?.exited ?? Promise.resolve(undefined);
  }

  /** Resolves once it produces readings again, or has earlier files to send. */
  async startMachine(): Promise<void> {
    const produced = this.source.produced.length;
    const machine = this.spawnMachine();
    while (this.source.produced.length === produced)
      if ((await Promise.race([machine.exited, pauseMs(20)])) !== undefined)
        throw new Error(`the machine-server ended: ${machine.stderr}`);
  }

  async killMachine(): Promise<void> {
    await this.#machine?.kill('SIGKILL');
  }

  /**
   * Ends capture, waits until everything is sent, and then stops the machine-server regularly.
   *
   * @param isTold whether the cloud has a gap for each missing reading: it is at first only in the memory of the machine-server, such as
   * that of a reading in progress when its capture ended
   */
  async settle(isTold: () => Promise<boolean>): Promise<void> {
    this.proxy.setFault({ kind: 'none' });
    await this.#configure(false);
    await this.#applied();
    await this.#sent();
    for (const sinceMs = performance.now(); performance.now() - sinceMs < toldMs && !(await isTold()); )
      await pauseMs(250);
    await this.#machine?.kill('SIGTERM');
    // A mounted disk ends with the process.
    const left = this.#disk === undefined ? this.waiting() : [];
    if (left.length > 0) throw new Error(`files wait after the stop: ${left.join(', ')}`);
  }

  /** Resolves once the machine-server runs the saved configuration: before that, it may capture although nothing waits. */
  async #applied(): Promise<void> {
    const fleet = this.#owner.client(FleetService);
    const { partId } = this.cloud.demo;
    for (const sinceMs = performance.now(); performance.now() - sinceMs < standstillMs; await pauseMs(100)) {
      const { saved, applied } = await fleet.getPartStatus({ partId });
      if (applied !== undefined && applied.revision === saved?.revision) return;
    }
    throw new Error(`the machine-server has not applied its configuration:\n${this.machineLog.slice(-4_000)}`);
  }

  /** Resolves once nothing waits; fails with the waiting items if nothing has been sent for minutes. */
  async #sent(): Promise<void> {
    for (let [before, sinceMs] = ['', performance.now()]; ; await pauseMs(50)) {
      const files = this.waiting();
      const gaps = files.length > 0 ? [] : await this.#waitingGaps();
      if (files.length + gaps.length === 0) return;
      const now = JSON.stringify([files.toSorted(), gaps]);
      if (now !== before) [before, sinceMs] = [now, performance.now()];
      else if (performance.now() - sinceMs > standstillMs) {
        const what = `${files.length} files and ${gaps.length} gaps wait, and nothing was sent for ${standstillMs / 1_000} s`;
        const some = [...files, ...gaps].slice(0, 5).join(', ');
        throw new Error(`${what}: ${some}\n${this.machineLog.slice(-4_000)}\n${this.cloud.stderr.slice(-4_000)}`);
      }
    }
  }

  /** Process id of the machine-server of the latest start. */
  get machinePid(): number {
    return this.#machine?.pid ?? -1;
  }

  /** The port of the machine-server of the latest start, once it listens. */
  get machinePort(): number | undefined {
    const running = this.#machine?.lines.find(({ msg }) => msg === 'running');
    return running && Number(running['port']);
  }

  /** The machine-server's log since its latest start. */
  get machineLog(): string {
    return (this.#machine?.lines ?? []).map((line) => JSON.stringify(line)).join('\n');
  }

  /** Capture files that are open or waiting; not those that were set aside, such as one whose header a power cut took. */
  waiting(): string[] {
    return readdirSync(this.home, { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.(capture|prog)$/.test(name) && !name.startsWith('capture/failed/'),
    );
  }

  /** The ids of gaps whose last count the cloud lacks. An open one stays in the journal after it was reported. */
  async #waitingGaps(): Promise<string[]> {
    const journal = join(this.home, 'gaps.jsonl');
    const lines = existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').filter(Boolean) : [];
    const told = new Map((await this.gaps()).map(({ id, readings }) => [id, Number(readings)]));
    return lines.flatMap((line) => {
      // On a full disk, the last one may be torn.
      const [, id = '', readings] = /^\{"id":"(\w+)".*"readings":(\d+)\}$/.exec(line) ?? [];
      return readings !== undefined && (told.get(id) ?? 0) < Number(readings) ? [id] : [];
    });
  }

  /** Omits the text that makes readings large; with it, the answer would be too large. */
  async stored(): Promise<LedgerRow[]> {
    const of = (field: keyof LedgerRow): [string, string] => [field, `$data.readings.${field}`];
    const fields = Object.fromEntries([of('machine'), of('component'), of('seq'), of('hash')]);
    const stored: LedgerRow[] = [];
    for (const { name } of this.#components) {
      const rows = await query(this.#owner, this.cloud.demo.organizationId, [
        { $match: { component_name: name } },
        { $project: { _id: 0, ...fields } },
      ]);
      for (const { machine, component, seq, hash } of rows as unknown as LedgerRow[])
        stored.push({ machine, component, seq: Number(seq), hash });
    }
    return stored;
  }

  /** How many readings the cloud has. */
  async storedCount(): Promise<number> {
    const [row] = await query(this.#owner, this.cloud.demo.organizationId, [
      { $match: { component_name: { $in: this.#components.map(({ name }) => name) } } },
      { $count: 'n' },
    ]);
    return Number(row?.['n'] ?? 0);
  }

  async gaps(): Promise<Gap[]> {
    const client = this.#owner.client(GapService);
    const all: Gap[] = [];
    for (let pageToken = ''; ; ) {
      const { gaps, nextPageToken } = await client.listGaps({
        partId: this.cloud.demo.partId,
        limit: 1_000,
        pageToken,
      });
      all.push(...gaps);
      if (nextPageToken === '') return all;
      pageToken = nextPageToken;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killMachine();
    await this.#owner[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
    await this.source[Symbol.asyncDispose]();
    if (this.isKept) await this.cloud.stop();
    else {
      await this.cloud[Symbol.asyncDispose]();
      rmSync(this.#folder, { recursive: true, force: true });
      await this.#disk?.[Symbol.asyncDispose]();
    }
  }
}
