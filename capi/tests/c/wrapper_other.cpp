// The other file of the program of wrapper.cpp: the header is in both, and each function is there
// once.

#include "adumbra.hpp"

std::size_t hit_bytes();
std::size_t hit_bytes() { return adumbra::Layout::hit().bytes(); }
