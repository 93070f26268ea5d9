/** Serving: the call core, its codecs on one port, and the compatibility edge. */
export type { ChannelPeer } from './channel/server/call-host.ts';
export {
  type ChannelServer,
  type ChannelServerOptions,
  createChannelServer,
} from './channel/server/channel-server.ts';
export { allowOrigin, answerPreflight, isPreflight, type PageRule, type PageVerdict } from './codecs/cors.ts';
export type { ForwardCalls, ForwardedKind } from './codecs/forward-call.ts';
export {
  type BodyGate,
  encodedUnary,
  type Handlers,
  methodPath,
  type RequestOf,
  type RequestRules,
  type ResponseOf,
  rawUnary,
  refusal,
  type ServiceBinding,
  serve,
} from './core/binding.ts';
export type { Call } from './core/call.ts';
export { certificateCommand } from './core/certificate-names.ts';
export { reportedFault } from './core/faults.ts';
export { findJsonExcess } from './core/json-shape.ts';
export { limitRequests, type RequestLimitTable } from './core/limit-requests.ts';
export { meterCalls, type ObserveCall, type WatchCall, watchCalls } from './core/meter-calls.ts';
export {
  defaultRequestLimits,
  maxAnswerElements,
  openRequestLimits,
  type RequestLimits,
} from './core/request-limits.ts';
export { untilAborted } from './core/until-aborted.ts';
export { carriesApiNames } from './edge/api-fields.ts';
export { apiIn, type Vocabulary, vocabularyAsked } from './edge/api-names.ts';
export { canonicalise, inVocabulary } from './edge/translate-message.ts';
export type { AdmitConnection } from './listener/connections/accept-connection.ts';
export { clientAddress } from './listener/connections/client-address.ts';
export type { EnterRequest } from './listener/enter-request.ts';
export type { UpgradeListener } from './listener/listeners.ts';
export type { NodeListener, NodeRequest, NodeResponse } from './listener/node-types.ts';
export { readLongBody } from './listener/read-body.ts';
export { createRpcServer, type RpcServer, type RpcServerOptions } from './listener/rpc-server.ts';
export { createTunnelServer, type TunnelServer, type TunnelServerOptions } from './tunnel/tunnel-server.ts';
