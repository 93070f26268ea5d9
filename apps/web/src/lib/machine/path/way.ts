/** A way to a machine over which calls go: through the cloud, or over WebRTC. */
import type { JsonObject } from '@bufbuild/protobuf';

export interface WayInit {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** The call is sent even if the page ends; only through the cloud. */
  readonly keepalive?: boolean;
}

export interface Way {
  /**
   * One unary call as JSON. @param method such as `platform.robot.v1.RobotService/GetVersion`
   *
   * @throws AnswerError or ConnectError with the answer of machine or cloud; anything if there is none (`isUndelivered`)
   */
  call(method: string, request: JsonObject, init: WayInit): Promise<JsonObject>;
}

/** Over WebRTC. */
export interface DirectWay extends Way {
  /** `turn`: all data passes through a TURN server. */
  readonly path: 'direct' | 'turn';
  /** Whether it can call the method; those of types that only a module has go through the cloud. */
  knows(method: string): boolean;
  /** Aborts when the connection was lost or closed. */
  readonly ended: AbortSignal;
  close(): void;
}
