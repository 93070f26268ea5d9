/** The inputs of a trigger, in the order in which they became known. They are the same live, in a dry run, and in tests. */

import type { UploadMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { ConfigurationFacts } from '../machines/feature.ts';
import type { ArrivedLine } from '../machines/logs/lines-by-arrival.ts';
import type { EventPlace } from '../outbox/event.ts';
import type { KeyNode } from '../reading-codec/key-filter.ts';
import type { Document } from '../reading-codec/read-document.ts';

export type DataTypeName = 'binary' | 'tabular' | 'file' | 'unspecified';

export interface ReadingTimes {
  /** Milliseconds; null: the machine sent none. */
  readonly receivedMs: number | null;
  readonly requestedMs: number | null;
}

/** The readings of an upload, decoded on access. */
export interface UploadReadings {
  readonly count: number;
  /** @param only keys to read; default: all @returns undefined if the reading is binary. @throws data_loss if it is damaged */
  document(index: number, only?: KeyNode): Document | undefined;
  /** The least number of bytes of its document as JSON, if that can be found without decoding it. */
  leastJsonBytes?(index: number): number;
  times(index: number): ReadingTimes;
}

export interface UploadInput {
  readonly kind: 'upload';
  /** Position of the upload in the ingest log: part of the ids of its messages. */
  readonly position: number;
  /** When the cloud accepted it: the time of its events, ms. */
  readonly atMs: number;
  readonly place: EventPlace;
  readonly metadata: Pick<UploadMetadata, 'componentType' | 'componentName' | 'methodName'>;
  /** What it is stored as. */
  readonly dataType: Exclude<DataTypeName, 'unspecified'>;
  /** The sender gave no type (D53). */
  readonly isUnspecified: boolean;
  readonly fileId: string;
  readonly readings: UploadReadings;
}

export interface TransitionInput {
  readonly kind: 'transition';
  /** Sequence number of the part's transitions. */
  readonly number: number;
  readonly status: 'online' | 'offline';
  readonly atMs: number;
  readonly place: EventPlace;
}

/**
 * A check of the log: the lines that arrived after the `afterId` of the trigger's state, in order. A check may consist of several inputs
 * with the same time; the last one ends it.
 */
export interface LogsInput {
  readonly kind: 'logs';
  readonly atMs: number;
  readonly place: EventPlace;
  readonly lines: readonly ArrivedLine[];
  readonly isLast: boolean;
  /** Id of the newest line of the part when the check began. */
  readonly newestId: number;
}

/** Time has passed: everything accepted before `atMs` has been passed in. */
export interface TimeInput {
  readonly kind: 'time';
  readonly atMs: number;
  /** Since when the cloud has been listening without interruption: earlier silence means nothing. */
  readonly listeningSinceMs: number;
  readonly place: EventPlace;
}

/** What the cloud knows about a part besides its data. */
export interface FactsInput {
  readonly kind: 'facts';
  readonly atMs: number;
  readonly listeningSinceMs: number;
  readonly place: EventPlace;
  readonly facts: PartFacts;
}

export interface PartFacts {
  /** Since when the part has been online; undefined: it is offline. */
  readonly onlineSinceMs: number | undefined;
  /** What is configured to be captured. */
  readonly captured: readonly CapturedSeries[];
  /** When the newest upload of a captured method arrived; undefined: none since the cloud started. */
  readonly arrivedMs: (series: CapturedSeries) => number | undefined;
  readonly configuration: ConfigurationFacts;
  /** How many captured readings are lost, as reported by the machine. */
  readonly discarded: number;
  /** API keys of the machine that expire. */
  readonly keys: readonly { readonly id: string; readonly name: string; readonly expiresMs: number }[];
}

export interface CapturedSeries {
  readonly componentType: string;
  readonly componentName: string;
  readonly methodName: string;
  readonly hz: number;
}

export type TriggerInput = UploadInput | TransitionInput | LogsInput | TimeInput | FactsInput;
