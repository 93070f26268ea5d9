/** The intensity of the fault tests: short by default, longer with `npm run fault`; the seed determines the moments. */
import { rollingSeed } from '@platform/testkit';

export interface FaultSettings {
  /** Default 10. */
  readonly kills: number;
  /** While triggers fire. Default 3. */
  readonly triggerKills: number;
  /** While charges are made. Default 5. */
  readonly billingKills: number;
  /** Default: another one at each run. */
  readonly seed: number;
  /** Of the ledger test: kills, power cuts, lost acknowledgements, mutated files and full disks. Default: 6, 100, 25, 500 and 2. */
  readonly ledgerKills: number;
  readonly cuts: number;
  readonly acks: number;
  readonly mutations: number;
  readonly disks: number;
  /** Faults of the disk, below a cloud and below a machine-server each. Default 60. */
  readonly diskFaults: number;
  /** Duration of the load, s. Default 6. */
  readonly seconds: number;
  /** How long the network between a machine-server and its cloud lies. Default: a twentieth of 600. */
  readonly linkSeconds: number;
  /** Longest times from a whole network to the next upload, call through the cloud, and poll beyond its interval, ms. Default: not checked. */
  readonly linkBounds: { readonly uploadMs: number; readonly relayMs: number; readonly pollMs: number };
  /** How many of the largest readings are sent at once. Default 1 and 30. */
  readonly large: readonly number[];
  /** Hostile requests. Default 48. */
  readonly requests: number;
  /** Connections to one machine while processes are killed. Default 60. */
  readonly connections: number;
  /** Kinds of garbage for each port, link and socket. Default 100. */
  readonly garbage: number;
  /** The first of them. Default 0. */
  readonly garbageFrom: number;
  /** Longest wait of others during hostile requests, ms. Default: not checked, because other tests keep the processors busy. */
  readonly longestWaitMs: number;
}

/** Times are checked by `npm run fault` alone: beside other tests, processors are busy. */
const unbounded = Number.POSITIVE_INFINITY;

export function readFaultSettings(): FaultSettings {
  const { FAULT_KILLS = '10', FAULT_SECONDS = '6', FAULT_LARGE = '1,30' } = process.env;
  const {
    FAULT_LEDGER_KILLS = '6',
    FAULT_CUTS = '100',
    FAULT_ACKS = '25',
    FAULT_MUTATIONS = '500',
    FAULT_DISKS = '2',
  } = process.env;
  return {
    triggerKills: Number(process.env['FAULT_TRIGGER_KILLS'] ?? 3),
    billingKills: Number(process.env['FAULT_BILLING_KILLS'] ?? 5),
    ledgerKills: Number(FAULT_LEDGER_KILLS),
    cuts: Number(FAULT_CUTS),
    acks: Number(FAULT_ACKS),
    mutations: Number(FAULT_MUTATIONS),
    disks: Number(FAULT_DISKS),
    diskFaults: Number(process.env['FAULT_DISK_FAULTS'] ?? 60),
    kills: Number(FAULT_KILLS),
    seed: rollingSeed(),
    seconds: Number(FAULT_SECONDS),
    linkSeconds: Number(process.env['FAULT_LINK_SECONDS'] ?? 30),
    linkBounds:
      process.env['FAULT_REPORT'] === undefined
        ? { uploadMs: unbounded, relayMs: unbounded, pollMs: unbounded }
        : { uploadMs: 35_000, relayMs: 25_000, pollMs: 10_000 },
    requests: Number(process.env['FAULT_REQUESTS'] ?? 48),
    connections: Number(process.env['FAULT_CONNECTIONS'] ?? 60),
    garbage: Number(process.env['FAULT_GARBAGE'] ?? 100),
    garbageFrom: Number(process.env['FAULT_GARBAGE_FROM'] ?? 0),
    longestWaitMs: Number(process.env['FAULT_WAIT_MS'] ?? Number.POSITIVE_INFINITY),
    large: FAULT_LARGE.split(',').map(Number),
  };
}
