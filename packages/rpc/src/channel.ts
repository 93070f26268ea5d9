/** Calls over data channels of WebRTC, for browsers and Node. */
export { type ChannelTransportOptions, channelTransport } from './channel/client/channel-transport.ts';
export type { MessageChannel } from './channel/message-channel.ts';
