/** A state of the graph: all changes up to this number, in the history that the token names. */
export interface GraphState {
  number: number;
  token: string;
}
