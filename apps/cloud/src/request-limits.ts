/**
 * What a request to each service of the cloud may cost: more is refused before it is decoded (D48). `docs/specs/request-limits.md` has the
 * same table. Handlers have their own limits for what they look up; here it matters what decoding costs, and a loop over what was decoded.
 */
import type { RequestLimitTable } from '@platform/rpc/server';
import { maxMessageBytes as packageBytes } from './packages/limits.ts';

const mebibyte = 1024 * 1024;
/** Metadata and logos are the largest of most requests. */
const usual = { maxRequestBytes: 1.25 * mebibyte, maxElements: 20_000 };
/** A document of 4 MiB and the rest of its request. */
const withDocument = { maxRequestBytes: 4.5 * mebibyte, maxElements: 200_000 };

export const requestLimits: RequestLimitTable = {
  'platform.app.v1.AppService': usual,
  'platform.app.v1.AppService/UpdateRobotPart': withDocument,
  'platform.app.v1.AppService/CreateFragment': withDocument,
  'platform.app.v1.AppService/UpdateFragment': withDocument,
  'platform.fleet.v1.FleetService': usual,
  'platform.fleet.v1.FleetService/ValidateConfiguration': withDocument,
  // The status of a machine with thousands of resources.
  'platform.fleet.v1.FleetService/ReportPartStatus': { ...usual, maxElements: 100_000 },
  'platform.app.data.v1.DataService': usual,
  'platform.app.dataset.v1.DatasetService': usual,
  'platform.app.v1.BillingService': usual,
  'platform.app.v1.TriggerService': usual,
  'platform.app.packages.v1.PackageService': { maxRequestBytes: packageBytes, maxElements: 20_000 },
  'platform.live.v1.LiveService': usual,
  'platform.gaps.v1.GapService': usual,
  'platform.series.v1.SeriesService': usual,
  // 100 tickets; 100 records with arguments.
  'platform.relay.v1.RelayService/CheckCallers': { maxRequestBytes: 256 * 1024, maxElements: 1_000 },
  'platform.relay.v1.RelayService/ReportCalls': { maxRequestBytes: 512 * 1024, maxElements: 5_000 },
  // A session description of 64 KiB, and the rest of its message.
  'proto.rpc.webrtc.v1.SignalingService': { maxRequestBytes: 72 * 1024, maxElements: 1_000, maxMessages: 500 },
};
