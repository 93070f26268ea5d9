/** Runs every case: each operation of the cloud, on each subject, by each caller. */
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { errorText } from '@platform/base';
import { Health } from '@platform/proto/grpc/health/v1/health';
import { ServerReflection } from '@platform/proto/grpc/reflection/v1/reflection';
import { ServerReflection as ServerReflectionAlpha } from '@platform/proto/grpc/reflection/v1alpha/reflection';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DatasetService } from '@platform/proto/platform/app/dataset/v1/dataset';
import { DataSyncService } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { PackageService } from '@platform/proto/platform/app/packages/v1/packages';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { BillingService } from '@platform/proto/platform/app/v1/billing';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { InvoiceService, PriceService } from '@platform/proto/platform/billing/v1/billing';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { GapService } from '@platform/proto/platform/gaps/v1/gaps';
import { LiveService } from '@platform/proto/platform/live/v1/live';
import { RelayService } from '@platform/proto/platform/relay/v1/relay';
import { SeriesService } from '@platform/proto/platform/series/v1/series';
import { UploadService } from '@platform/proto/platform/upload/v1/upload';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { requestById } from './data-requests.ts';
import { deleteMadeSecrets, type Preparation, preparations } from './prepare.ts';
import type { Answer, RawCaller } from './raw-call.ts';
import { builders, headersOf } from './requests.ts';
import type { Caller, Outcome, Rules, Subject } from './rules.ts';
import type { Row } from './table.ts';
import type { World } from './world.ts';

export interface Case {
  readonly row: Row;
  readonly method: DescMethod;
  readonly caller: Caller;
  readonly subject: Subject;
  readonly expected: readonly Outcome[];
}

export const services: readonly DescService[] = [
  AuthService,
  AppService,
  RobotService,
  DataSyncService,
  UploadService,
  DataService,
  DatasetService,
  FleetService,
  GapService,
  LiveService,
  SeriesService,
  TriggerService,
  BillingService,
  PriceService,
  InvoiceService,
  Health,
  ServerReflection,
  ServerReflectionAlpha,
  PackageService,
  SignalingService,
  RelayService,
];
const callsAtOnce = 48;
/** Codes that mean: access was granted, but the content of the request was refused. */
const complaints: ReadonlySet<string> = new Set([
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'ALREADY_EXISTS',
  'ABORTED',
]);

/** What callers of machines that wait for them are told after access was granted, by operation. */
const grantedWords: Readonly<Record<string, RegExp>> = {
  'SignalingService.Call': /over WebRTC|appears to be offline|error from answerer|within 10 s/,
  'SignalingService.CallUpdate': /no active offer/,
  'SignalingService.OptionalWebRTCConfig': /over WebRTC/,
};

/** `Service.Method` of everything that the cloud serves. */
export function methodsServed(): ReadonlyMap<string, DescMethod> {
  return new Map(
    services.flatMap((service) => service.methods.map((method) => [`${service.name}.${method.name}`, method] as const)),
  );
}

/**
 * The cases of one run, which the seed chooses: of each operation those of every second caller, and of these a share of the cases that are
 * alike, but at least one. All numbers count in rotation, so that each subject is tried by several callers, and all are with some seed.
 */
export function casesOf(
  rules: Rules,
  rows: ReadonlyMap<string, Row>,
  callers: readonly Caller[],
  subjectsOf: (row: Row) => readonly Subject[],
  seed: number,
): Case[] {
  const cases: Case[] = [];
  for (const [at, [operation, method]] of [...methodsServed()].entries()) {
    const row = rows.get(operation);
    if (row === undefined) throw new Error(`${operation} has no row in docs/specs/access.md`);
    for (const [index, caller] of callers.entries()) {
      const turn = seed + at + index;
      if (turn % 2 !== 0) continue;
      const all = subjectsOf(row).map((subject): Case => {
        return { row, method, caller, subject, expected: rules.expected(row, caller, subject) };
      });
      for (const alike of Map.groupBy(all, likeness).values()) {
        const every = Math.min(alike.length, shareOf(alike[0]));
        cases.push(...alike.filter((_one, number) => (number + Math.floor(turn / 2)) % every === 0));
      }
    }
  }
  return cases;
}

/** What is found out about an existing subject must equal what is found out about one that does not exist, so both are tried. */
function likeness({ expected, subject }: Case): string {
  return [...expected, subject.saidKind, exists(subject)].join();
}

function exists({ places, fragment, person, keptBy }: Subject): boolean {
  return (places ?? fragment ?? person ?? keptBy) !== undefined;
}

/** One in how many cases is tried. There are many refusals, above all of what the caller may not see or without a valid token. */
function shareOf(one: Case | undefined): number {
  if (one === undefined || one.expected.includes('IN')) return 2;
  const isHidden = one.expected.join() === 'NOT_FOUND' && exists(one.subject);
  return isHidden || one.caller.kind === 'none' ? 9 : 3;
}

const prepared = new Map<string, Promise<unknown>>();
/** Methods that an organization may call only a few times at once. */
const limitedAtOnce = new Set(['TriggerService.DryRunTriggers']);

export interface Result {
  readonly case: Case;
  readonly answer: Answer;
  readonly requests: readonly object[];
  /** Everything that the caller sent. */
  readonly sent: string;
  readonly leaks: readonly string[];
}

/** @throws errors while preparing a case */
export async function runCases(world: World, caller: RawCaller, cases: readonly Case[]): Promise<Result[]> {
  const results: Result[] = [];

  let unique = 0;
  for (const phase of [reads, writes, takesAway]) {
    const waiting = cases.filter(({ row }) => phase(row.operation));
    const worker = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        results.push(await runCase(world, caller, next, unique++));
      }
    };
    await Promise.all(Array.from({ length: callsAtOnce }, worker));
    if (phase === writes) await deleteMadeSecrets(world);
  }
  return results;
}

async function runCase(world: World, wire: RawCaller, one: Case, unique: number): Promise<Result> {
  const prepare = one.expected.includes('IN') ? preparations[one.row.operation] : undefined;
  const isLimited = limitedAtOnce.has(one.row.operation);
  if (prepare === undefined && !isLimited) return await sendCase(world, wire, one, unique, undefined);
  // Each preparation is removed before the next one in the same place, because some things can exist only once.
  const key = isLimited ? one.row.operation : `${one.row.operation} ${one.subject.id}`;
  const before = prepared.get(key) ?? Promise.resolve();
  const result = before.then(() => sendCase(world, wire, one, unique, prepare));
  prepared.set(
    key,
    result.catch(() => {}),
  );
  return await result;
}

async function sendCase(
  world: World,
  wire: RawCaller,
  one: Case,
  unique: number,
  prepare: Preparation | undefined,
): Promise<Result> {
  const { row, method, caller } = one;
  let subject = one.subject;
  try {
    subject = (await prepare?.(world, caller, subject, unique)) ?? subject;
  } catch (caught) {
    throw new Error(`preparing ${describe(one)}: ${errorText(caught)}`);
  }
  const build = builders[row.operation];
  const built = build?.(subject, world, unique, caller) ?? requestById(method, row.on, subject);
  const requests = Array.isArray(built) ? built : [built];
  const answer = await wire.call(method, requests, caller.token, headersOf(row.operation, subject));
  const sent = JSON.stringify(
    [subject.id, subject.second, subject.organizationId, requests],
    (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value),
  );
  const leaks = world.canaries.found(
    caller,
    row.operation,
    `${answer.message}\n${answer.headers}\n${answer.body}`,
    sent,
  );
  return { case: one, answer, requests, sent, leaks };
}

/** Whether access was granted. */
export function isIn({ case: { row }, answer: { code, message } }: Result): boolean {
  return code === 'OK' || complaints.has(code) || grantedWords[row.operation]?.test(message) === true;
}

export function isExpected(result: Result): boolean {
  const { case: one, answer } = result;
  const isGranted = isIn(result);
  return one.expected.some((outcome) =>
    outcome === 'IN' ? isGranted : outcome === answer.code && !(isGranted && outcome === 'NOT_FOUND'),
  );
}

export function describe({ row, caller, subject }: Case): string {
  return `${row.operation} · ${caller.label} · ${row.on}: ${subject.label}`;
}

function takesAway(operation: string): boolean {
  return /\.(Delete|Remove|Disable|Unshare|Rotate)/.test(operation);
}

export function reads(operation: string): boolean {
  return /\.(Get|List|Simulate|Search|Check|Tabular|Export|Binary|Tags|BoundingBoxLabels|SequencesBy|Config$|Certificate|Tail|Validate|LocationAuth|OrganizationGet)/.test(
    operation,
  );
}

function writes(operation: string): boolean {
  return !takesAway(operation) && !reads(operation);
}
