/** What one reading (SensorData) may be, stated once for the machine that sends it and the cloud that stores it. */

/** Bytes of one tabular reading's protobuf message: the 4 MB of the specification (D14). */
export const maxReadingBytes: number = 4_194_304;

/** Documents and lists inside one another, the outermost document included. */
export const maxReadingLevels: number = 100;
