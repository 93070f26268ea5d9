/** Limits of one reading (SensorData), stated once for the machine that sends it and the cloud that stores it. */

/** Bytes of one tabular reading's protobuf message: the 4 MB of the specification (D14). */
export const maxReadingBytes: number = 4_194_304;

/** Nesting depth of documents and lists, including the outermost document. */
export const maxReadingLevels: number = 100;
