/** Calling a cloud or a machine over gRPC, from Node. */

export { certificateCommand, checkServerIdentity } from './core/certificate-names.ts';
export { maxMessageDepth } from './core/max-message-depth.ts';
export { checksumHeader, checksumKind } from './core/message-checksums.ts';
export { maxAnswerElements, requireFewElements } from './core/request-limits.ts';
export {
  type Client,
  type Credentials,
  connect,
  connectOver,
  type Link,
  type LinkOptions,
  type LinkState,
  type PlainBody,
  type PutOptions,
} from './link/connect.ts';
export { type ConnectChannelOptions, connectChannel } from './link/connect-channel.ts';
export { CallCutOff } from './link/connection/connection.ts';
export { type ConnectionFault, connectionFault, isAnswer } from './link/connection/connection-fault.ts';
export { KeepAlive } from './link/connection/keep-alive.ts';
export { pinnedAuthority } from './link/connection/pinned-authority.ts';
export { isLoopback, loopbackLookup } from './link/loopback.ts';
export { type EncodedCall, encodedCall, passingClient } from './link/transport/encoded-answers.ts';
export { maxTunnelCalls } from './listener/limits.ts';
export { byteStreamOver } from './tunnel/byte-stream.ts';
