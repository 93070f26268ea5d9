/** RobotService: the calls that a machine-server makes to the cloud. */
import { create } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { permissionDenied } from '@platform/base';
import {
  type ConfigRequest,
  ConfigRequestSchema,
  ConfigResponseSchema,
  RobotService,
} from '@platform/proto/platform/app/v1/robot';
import { type Call, rawUnary, serve } from '@platform/rpc/server';
import type { PlacedKey } from '../access/keys-by-place.ts';
import { type CloudBinding, type CloudCall, notVisible, type Principal } from '../access/principal.ts';
import type { CertificatePair } from '../instance/authority.ts';
import { requireAtMost } from '../text-rules/require-at-most.ts';
import type { AskedConfig, RobotConfigs } from './configuration/robot-configs.ts';
import type { MachineLogs } from './logs/logs.ts';
import { sentPositionOf } from './logs/sent-positions.ts';
import type { PartStatuses } from './part-status.ts';
import type { CompetingServers } from './presence/competing-servers.ts';

const maxLogEntries = 1_000;
const restartCheckMs = 5_000;

export interface RobotServiceDeps {
  readonly logs: MachineLogs;
  /** Checks that the principal may act as the part or operate it. Returns whether the call counts as contact. @throws not_found */
  authorizePart(principal: Principal, partId: string): boolean;
  readonly competing: Pick<CompetingServers, 'saw'>;
  /** Whether the principal is the part itself or an owner of it. Only they receive secrets (D6). */
  mayHaveSecrets(principal: Principal, partId: string): boolean;
  /** Whether the principal may receive a key with these roles in the part's configuration. */
  mayHaveKey(principal: Principal, partId: string, key: PlacedKey): boolean;
  readonly configs: RobotConfigs;
  readonly statuses: PartStatuses;
  /** @param hostName of the computer, as the machine-server says; empty: not said */
  certificate(partId: string, hostName: string): Promise<CertificatePair>;
  /** The part polls for its configuration this often; 0: it does not say. */
  polls(partId: string, everyMs: number): void;
  /** Returns true once after a restart was requested. */
  consumeRestartRequest(partId: string): Promise<boolean>;
}

export function robotServiceBinding(deps: RobotServiceDeps): CloudBinding {
  const { logs, authorizePart, competing, mayHaveSecrets, configs, statuses, certificate, consumeRestartRequest } =
    deps;
  const enter = ({ principal, metadata }: CloudCall, partId: string): boolean => {
    if (partId === '') throw notVisible('part', partId);
    const isContact = authorizePart(principal, partId);
    // A part's own calls were seen when they were authenticated; a key does not show which part its machine-server runs.
    if (principal.kind === 'key') competing.saw(partId, metadata.get('user-agent') ?? '');
    return isContact;
  };
  const asked = (request: ConfigRequest, call: CloudCall): AskedConfig & { readonly byMachine: boolean } => {
    const byMachine = enter(call, request.id);
    const secrets = mayHaveSecrets(call.principal, request.id) ? 'all' : byMachine ? 'own' : 'masked';
    return {
      partId: request.id,
      authority: call.metadata.get('host') ?? '',
      platform: request.agentInfo?.platform ?? '',
      vocabulary: call.vocabulary,
      secrets,
      byMachine,
      mayHaveKey: (key) => deps.mayHaveKey(call.principal, request.id, key),
    };
  };
  /** Only a fetch by the machine itself counts: other callers do not run the configuration. */
  const noteFetch = (
    { id, agentInfo }: ConfigRequest,
    { metadata }: Call,
    revision: string,
    byMachine: boolean,
  ): void => {
    if (!byMachine) return;
    deps.polls(id, pollMsOf(metadata));
    statuses.fetched(id, revision, {
      serverVersion: agentInfo?.version,
      platform: agentInfo?.platform,
      os: agentInfo?.os,
    });
  };

  // Nearly all calls of a fleet are of this kind, and nearly always the answer is unchanged, so the field stays encoded.
  const encodedConfig = rawUnary(RobotService.method.config, ConfigRequestSchema, async (request, call: CloudCall) => {
    const ask = asked(request, call);
    const { bytes, revision } = await configs.encoded(ask);
    noteFetch(request, call, revision, ask.byMachine);
    const answer = create(ConfigResponseSchema);
    answer.$unknown = [
      {
        no: ConfigResponseSchema.field.config.number,
        wireType: WireType.LengthDelimited,
        data: new BinaryWriter().bytes(bytes).finish(),
      },
    ];
    return answer;
  });
  const service = serve<typeof RobotService, Principal>(RobotService, {
    async config(request, call) {
      const ask = asked(request, call);
      const config = await configs.message(ask);
      noteFetch(request, call, config.revision, ask.byMachine);
      return { config };
    },
    async certificate(request, call) {
      enter(call, request.id);
      if (!mayHaveSecrets(call.principal, request.id)) {
        throw permissionDenied(
          `Certificate of part ${request.id}: expected the part itself or an owner, found an operator: the answer contains a private key`,
        );
      }
      const pair = await certificate(request.id, call.metadata.get('platform-host-name') ?? '');
      return { id: request.id, tlsCertificate: pair.certificate, tlsPrivateKey: pair.privateKey };
    },
    async log(request, call) {
      enter(call, request.id);
      requireAtMost('Log', maxLogEntries, request.logs.length, ' entries in one call');
      await logs.append(request.id, request.logs, sentPositionOf(call.metadata.get('platform-log-position')));
    },
    async needsRestart(request, call) {
      // Only the machine itself consumes the request; otherwise it would miss its restart.
      const isContact = enter(call, request.id);
      return {
        id: request.id,
        mustRestart: isContact && (await consumeRestartRequest(request.id)),
        restartCheckInterval: durationFromMs(restartCheckMs),
      };
    },
  });
  return { methods: [...service.methods, ...encodedConfig.methods] };
}

/** A longer one would hide for days that a machine is gone. */
const maxPollMs = 86_400_000;

/** Header `platform-refresh-ms`, by which machine-servers that poll rarely say so. */
function pollMsOf(metadata: Headers): number {
  const text = metadata.get('platform-refresh-ms') ?? '';
  return /^\d{1,12}$/.test(text) ? Math.min(Number(text), maxPollMs) : 0;
}
