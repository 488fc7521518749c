"""Associative memories of chapter 2: encode (⊗), compose (⊕), decode (•)."""
