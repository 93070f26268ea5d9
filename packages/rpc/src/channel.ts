/** Calls over data channels of WebRTC, for browsers and Node. */
export type { MessageChannel } from './channel/message-channel.ts';
