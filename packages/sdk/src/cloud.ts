/** Client of the cloud, for programs and the command line. */
export type { JsonObject, JsonValue } from '@bufbuild/protobuf';
export { timestampDate, timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
export {
  asPlatformError,
  type Clock,
  type CodeName,
  errorText,
  newSecret,
  PlatformError,
  printable,
  printableEntry,
  type Repaired,
  readLogField,
  systemClock,
} from '@platform/base';
export {
  type BinaryMetadata,
  type ExportTabularDataResponse,
  type Filter,
  Order,
  type Query as SavedQuery,
  TabularDataSourceType,
  TagsFilterType,
} from '@platform/proto/platform/app/data/v1/data';
export { type Package, PackageType } from '@platform/proto/platform/app/packages/v1/packages';
export {
  type APIKeyWithAuthorizations,
  type Authorization,
  type AuthorizationDetails,
  type FavoriteMachine,
  type Fragment,
  type FragmentHistoryEntry,
  type FragmentUsage,
  FragmentVisibility,
  type Location,
  OnlineState,
  type Organization,
  type Robot,
  type RobotPart,
  type SharedSecret,
} from '@platform/proto/platform/app/v1/app';
export type { InvoiceSummary } from '@platform/proto/platform/app/v1/billing';
export {
  type Delivery,
  type DeliveryAttempt,
  DeliveryState,
  type DryRunSummary,
  type ListDeliveriesResponse,
  type PausedTarget,
  TargetState,
  type Trigger,
  type TriggerHistoryEntry,
  TriggerOutcome,
  TriggerState,
} from '@platform/proto/platform/app/v1/triggers';
export {
  type InvoiceLine,
  type PriceList,
  TestCard,
  type UsageRecord,
} from '@platform/proto/platform/billing/v1/billing';
export type { LogEntry } from '@platform/proto/platform/common/v1/common';
export type {
  AuditEntry,
  ConfigurationProblem,
  ConfigurationVersion,
  GetPartStatusResponse,
  KeyDetails,
} from '@platform/proto/platform/fleet/v1/fleet';
export { type Gap, GapReason } from '@platform/proto/platform/gaps/v1/gaps';
export { certificateCommand, connectionFault, isAnswer, isLoopback, pinnedAuthority } from '@platform/rpc/client';
export {
  type BillingCallOptions,
  type BillingClient,
  type ChargeOptions,
  type ImmediateCharge,
  type OrganizationCharge,
  type PdfOptions,
  usageTypeName,
} from './cloud/billing-client.ts';
export { parseStages } from './cloud/extended-json/parse-stages.ts';
export { readJson } from './cloud/extended-json/read-json.ts';
export { type RowFields, type RowValue, readRow, Scalar } from './cloud/extended-json/read-row.ts';
export { relaxedJson, typedJson } from './cloud/extended-json/relaxed-json.ts';
export { type HttpAnswer, type HttpRequest, sendHttp } from './cloud/http-request.ts';
export {
  type Cloud,
  type CloudCredentials,
  type CloudOptions,
  openCloud,
  type Stage,
} from './cloud/open-cloud.ts';
export type { FileBody } from './cloud/open-file.ts';
export { refusalOf } from './cloud/refusal.ts';
export { type RestartModuleOptions, restartModule } from './cloud/restart-module.ts';
export type { Row } from './cloud/rows.ts';
