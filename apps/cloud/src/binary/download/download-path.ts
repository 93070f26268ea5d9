/** Path of downloads, followed by the file's id. */
export const downloadPath = '/binary-data/';
